import type { Call, JsonObject, Reply } from './http.ts';
import type { OAuth } from './oauth.ts';

/** How many records of each object there are, and how many deleted ones are still known. */
export type Counts = Record<string, { live: number; deleted: number }>;

/** What the page at `/` tells of a simulator. */
export type Guide = {
  title: string;
  /** Sentences on its accounts and tokens. */
  accounts: string[];
  /** A call of the API, as its path with a query. */
  firstCall: string;
  quotas: JsonObject;
  schema: { about: string; example: JsonObject };
  /** `listPath` is part of the path of a call that lists records page by page. */
  data: { about: string; example: JsonObject; listPath: string };
  /** What each setting does, by name. */
  settings: Record<string, string>;
};

/** What a simulator implements; the kit adds HTTP, faults and the control API. */
export type Provider = {
  name: string;
  /** Answers one call. Synchronous, so that a request's effects happen at once or not at all. */
  handle: (call: Call) => Reply;
  /** The answer when `handle` throws. */
  crashed: (error: unknown) => Reply;
  oauth: OAuth;
  guide: Guide;
  /** What tokens minted without consent get. */
  defaultAccount: string;
  defaultScopes: string[];
  /** The object a call is about, for faults that name one. */
  objectOf: (call: Call) => string | undefined;
  reset: (input: { seed: number; records: number }) => void;
  /** Each control sets what the input names and answers all settings; throws on bad input. */
  quotas: (input: JsonObject) => JsonObject;
  settings: (input: JsonObject) => JsonObject;
  addSchema: (input: JsonObject) => JsonObject;
  addData: (input: JsonObject) => JsonObject;
  /** All records of an object, or one; undefined when there is none. */
  readData: (object: string, id?: string) => JsonObject | undefined;
  counts: () => Counts;
  /** Does the work that is due, before a call is answered. */
  settle?: () => void;
};
