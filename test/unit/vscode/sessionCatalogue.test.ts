import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { archiveIdFor } from '../../../extension/archive/canonical';
import type { SessionId } from '../../../extension/archive/ids';
import { connectOwner } from '../../../extension/link/client';
import { startHost } from '../../../extension/vscode/serve';
import { SessionCatalogue } from '../../../extension/vscode/sessionCatalogue';
import { titleOf, type SessionFacts } from '../../../extension/vscode/sessionRows';
import { aLog, APPEND, identity, pi, useScratch } from '../link/pieces';

describe('the list of sessions', function () {
  this.timeout(60_000);
  const scratch = useScratch();
  const at = (...names: string[]) => path.join(scratch(), ...names);
  const root = () => at('agent', 'strata');
  const project = () => at('project');

  function catalogue(): SessionCatalogue {
    const places = async () => ({
      agentDir: at('agent'),
      sessionDirs: [],
      root: root(),
      folders: [project()],
    });
    return new SessionCatalogue(
      places,
      () => [],
      () => [],
    );
  }
  async function list(): Promise<readonly SessionFacts[]> {
    const one = catalogue();
    await one.read();
    assert.equal(one.failure, undefined);
    return one.sessions;
  }
  function session(id: string, prompt: string, day: number): string {
    const folder = at('agent', 'sessions', '--p--');
    fs.mkdirSync(folder, { recursive: true });
    fs.mkdirSync(project(), { recursive: true });
    const file = path.join(folder, `${id}.jsonl`);
    const timestamp = `2026-01-0${day}T00:00:00.000Z`;
    const entries = [
      { type: 'session', version: 3, id, timestamp, cwd: project() },
      { type: 'message', id: 'e', timestamp, message: { role: 'user', content: prompt } },
    ];
    fs.writeFileSync(file, entries.map(entry => `${JSON.stringify(entry)}\n`).join(''));
    return file;
  }
  /** A session that was remembered by a window, which is closed again. */
  async function remember(id: string): Promise<void> {
    const host = await startHost({
      root: root(),
      folders: [project()],
      memoryDefault: () => true,
      log: aLog(),
    });
    const link = await connectOwner({
      root: root(),
      session: identity(project(), id),
      pi,
      timeoutMs: 5000,
    });
    await link.open();
    await link.append(APPEND);
    await link.release();
    await host.dispose();
  }
  const titles = (facts: readonly SessionFacts[]) => facts.map(one => [titleOf(one), one.state]);
  const archiveOf = (id: string) => path.join(root(), 'sessions', archiveIdFor(project(), id as SessionId));

  it("is the same with and without anything of Strata's: rows come from Pi's files", async () => {
    for (const day of [1, 2, 3]) session(`s${day}`, `prompt ${day}`, day);
    const bare = await list();
    assert.deepEqual(titles(bare), [
      ['prompt 3', 'closed'],
      ['prompt 2', 'closed'],
      ['prompt 1', 'closed'],
    ]);
    await remember('s1');
    await remember('s3');
    const withArchives = await list();
    assert.equal(withArchives.filter(one => one.journalBytes !== undefined).length, 2);
    const withoutBytes = withArchives.map(({ journalBytes: _, ...rest }) => rest);
    assert.deepEqual(withoutBytes, bare);

    // What is derived makes no difference either, whether it is there, gone or garbage.
    fs.rmSync(path.join(root(), 'cache'), { recursive: true, force: true });
    for (const id of ['s1', 's3']) fs.rmSync(path.join(archiveOf(id), 'checkpoint'), { force: true });
    assert.deepEqual(await list(), withArchives);
    for (const id of ['s1', 's3']) fs.writeFileSync(path.join(archiveOf(id), 'checkpoint'), 'garbage');
    fs.mkdirSync(path.join(root(), 'cache'));
    fs.writeFileSync(path.join(root(), 'cache', 'sessions.json'), '[]');
    assert.deepEqual(await list(), withArchives);

    fs.rmSync(root(), { recursive: true });
    assert.deepEqual(await list(), bare);
  });

  it('shows what is damaged as damaged, with the reason, among all that is not', async () => {
    session('good', 'good', 1);
    session('no journal', 'its journal is gone', 2);
    await remember('no journal');
    const journal = fs.readdirSync(archiveOf('no journal')).find(name => name.startsWith('journal-'));
    fs.rmSync(path.join(archiveOf('no journal'), journal ?? assert.fail()));
    const torn = session('torn', 'torn', 3);
    fs.truncateSync(torn, 20);
    // Pi's folder for this project, where a file without a header can only belong to it.
    const own = at('agent', 'sessions', `--${project().slice(1).replaceAll('/', '-')}--`);
    fs.mkdirSync(own);
    fs.renameSync(torn, path.join(own, 'torn.jsonl'));
    const facts = await list();
    assert.deepEqual(facts.map(one => one.state).sort(), ['closed', 'damaged', 'damaged']);
    const problems = facts.filter(one => one.state === 'damaged').map(one => one.problem);
    assert.ok(problems.some(problem => /journal-\d+\.jsonl is missing\./.test(problem ?? '')));
    assert.ok(problems.some(problem => /not the header of a Pi session/.test(problem ?? '')));
  });

  it('has a session once when there are copies of its file, and keeps one whose file is gone', async () => {
    const file = session('s1', 'once', 1);
    fs.cpSync(file, `${file}-copy.jsonl`);
    await remember('s1');
    assert.deepEqual(titles(await list()), [['once', 'closed']]);
    fs.rmSync(file);
    fs.rmSync(`${file}-copy.jsonl`);
    const [left, ...more] = await list();
    assert.deepEqual(more, []);
    assert.ok(left);
    assert.equal(left.state, 'closed');
    assert.ok((left.journalBytes ?? 0) > 0);
  });

  it('keeps what it had, and says why, when the folder of the archives cannot be read', async () => {
    session('s1', 'kept', 1);
    const one = catalogue();
    await one.read();
    fs.mkdirSync(root(), { recursive: true });
    fs.writeFileSync(path.join(root(), 'sessions'), 'no folder');
    await one.read();
    assert.match(one.failure ?? '', /^The sessions could not be read: /);
    assert.deepEqual(titles(one.sessions), [['kept', 'closed']]);
  });
});
