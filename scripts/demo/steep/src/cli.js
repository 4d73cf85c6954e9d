#!/usr/bin/env node
// steep NAME: says how hot the water should be, then counts down.
import { findTea, teas } from './teas.js';
import { secondsLeft, timeLeft } from './timer.js';

const [name = '--list'] = process.argv.slice(2);
if (name === '--list') {
  for (const tea of teas) console.log(`${tea.name}: ${tea.degrees} °C, ${tea.minutes} min`);
} else {
  const tea = findTea(name);
  if (!tea) {
    console.error(`There is no ${name} here. Try --list.`);
    process.exit(1);
  }
  console.log(`Heat the water to ${tea.degrees} °C.`);
  const started = Date.now();
  const tick = setInterval(() => {
    const left = secondsLeft(tea, started, Date.now());
    process.stdout.write(`\r${timeLeft(left)} `);
    if (left <= 0) {
      clearInterval(tick);
      process.stdout.write(`\rYour ${tea.name} is ready.\n`);
    }
  }, 250);
}
