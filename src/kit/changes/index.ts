export { createChanges, type Changes, type News } from './changes.ts';
export { whoseOf, type Change } from './wire.ts';
