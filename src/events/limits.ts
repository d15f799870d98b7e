import { integer, variable } from '../kit/variable.ts';

/** Of streams of changes. */
export const streamLimits = {
  streams: variable({
    name: 'SVC_STREAMS',
    default: '2000',
    read: integer(0, 100_000),
    about: 'How many streams of changes a node holds open at once; further ones are refused.',
  }),
  streamsPerCaller: variable({
    name: 'SVC_STREAMS_PER_CALLER',
    default: '100',
    read: integer(0, 100_000),
    about: 'How many of them one API key, person or end user may hold open at a node.',
  }),
};
