import { mark } from '../support/conversation';
import { pause, type World } from './world';

/** What happens in the middle of a turn, while a tool runs. */
interface Interruption {
  /** It may end the turn without an answer. */
  readonly mayStop?: true;
  /** Pi is dead afterwards. */
  readonly dead?: true;
  readonly happens: (world: World) => Promise<void>;
}

const frozenFor = async (world: World, ms: number): Promise<void> => {
  const [host] = world.hosts;
  if (!host) return;
  await host.freeze();
  await pause(ms);
  host.thaw();
};

export const INSIDE: Readonly<Record<string, Interruption>> = {
  'host killed in a turn': {
    happens: async world => {
      await world.killHosts();
      await pause(world.below(1500));
      await world.startHost();
    },
  },
  'window reloaded in a turn': {
    happens: async world => {
      await world.stopHosts();
      await pause(world.below(1000));
      await world.startHost();
    },
  },
  'host frozen in a turn': { happens: world => frozenFor(world, 1000 + world.below(2000)) },
  'host frozen for long in a turn': { mayStop: true, happens: world => frozenFor(world, 7000) },
  'turn aborted': {
    mayStop: true,
    happens: async world => {
      await world.pi.send('abort');
    },
  },
  'Pi killed in a turn': { dead: true, happens: world => world.killPi() },
  'all killed in a turn': {
    dead: true,
    happens: async world => {
      await world.killHosts();
      await world.killPi();
      await world.startHost();
    },
  },
  steered: {
    happens: async world => {
      await world.pi.send('steer', {
        message: `steer T${world.turn}T ${mark(world.turn + 1)} S${world.turn}S`,
      });
    },
  },
  'followed up': {
    happens: async world => {
      const { turn } = world;
      await world.pi.send('follow_up', { message: `follow T${turn}T ${mark(turn + 1)} ;; !say S${turn}S` });
    },
  },
  'reloaded in a turn': {
    happens: async world => {
      await world.pi.send('prompt', { message: '/again' });
    },
  },
};
