import '../problems.ts';
/** What checks an `svc.yaml` with nothing but the file at hand: the door for the command line. */
export { factsOf } from './facts.ts';
export { checkManifest } from './validate.ts';
