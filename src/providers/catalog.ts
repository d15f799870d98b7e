import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { compileCheck } from '../kit/http/validation.ts';
import { nearest } from '../kit/nearest.ts';
import { problem } from '../kit/problem.ts';
import { isObject } from './answer.ts';
import { contradictionsOf } from './contradictions.ts';
import { ProviderDeclaration } from './declaration/schema.ts';
import type { Provider } from './provider.ts';

export interface Catalog {
  find(name: string): Provider | undefined;
  /** Throws provider-unknown. */
  get(name: string): Provider;
  /** By name. */
  list(): Provider[];
}

export interface CatalogOptions {
  /** A folder of further provider files, allowed by the operator, beside our own. */
  directory?: string | undefined;
  /** Provider name → origin to use in place of its own hosts, such as a simulator or a sandbox. */
  origins?: Readonly<Record<string, string>>;
}

const ownDirectory = fileURLToPath(new URL('catalog', import.meta.url));
const checkDeclaration = compileCheck(ProviderDeclaration);

/** Reads and checks the provider files, once at start. Throws an Error that names every file and path at fault. */
export function loadCatalog({ directory, origins = {} }: CatalogOptions = {}): Catalog {
  const faults: string[] = [];
  const providers = new Map<string, Provider>();
  const sources = new Map<string, string>();
  const files = [...filesOf(ownDirectory), ...(directory === undefined ? [] : filesOf(directory))];
  for (const path of files) {
    const read = readDeclaration(path);
    if ('faults' in read) {
      faults.push(...read.faults);
      continue;
    }
    const { name: own, aliases = [], ...declaration } = read.declaration;
    for (const name of [own, ...aliases]) {
      // A file of ours is never replaced: existing connections depend on it.
      const earlier = sources.get(name);
      if (earlier !== undefined) faults.push(`${path}: there is a provider ${name} already, in ${earlier}`);
      else {
        providers.set(name, { name, ...declaration });
        sources.set(name, path);
      }
    }
  }
  for (const [name, origin] of Object.entries(origins)) {
    const declaration = providers.get(name);
    const fault = declaration ? faultOfOrigin(origin) : noProvider(name, [...providers.keys()]);
    if (fault !== undefined) faults.push(`SVC_PROVIDER_ORIGINS, origin of ${name}: ${fault}`);
    else if (declaration) providers.set(name, moveTo(declaration, origin));
  }
  if (faults.length > 0) throw new Error(`The provider catalogue is not valid:\n${faults.join('\n')}`);
  return catalogOf(providers);
}

function filesOf(directory: string): string[] {
  try {
    const names = readdirSync(directory).filter((name) => name.endsWith('.yaml'));
    return names.toSorted().map((name) => join(directory, name));
  } catch (error) {
    throw new Error(`The folder of provider files cannot be read: ${directory}`, { cause: error });
  }
}

function catalogOf(providers: ReadonlyMap<string, Provider>): Catalog {
  const list = [...providers.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return {
    find: (name) => providers.get(name),
    get(name) {
      const provider = providers.get(name);
      if (!provider)
        throw problem('provider-unknown', {
          detail: `There is no provider ${JSON.stringify(name)} in the catalogue.${hintOf(name, providers.keys())}`,
        });
      return provider;
    },
    list: () => list,
  };
}

function hintOf(name: string, known: Iterable<string>): string {
  const meant = nearest(name, known);
  return meant === undefined ? '' : ` Did you mean ${meant}?`;
}

function readDeclaration(path: string): { declaration: ProviderDeclaration } | { faults: string[] } {
  const file = basename(path);
  try {
    const value = parse(readFileSync(path, 'utf8'), { strict: true, uniqueKeys: true }) as unknown;
    const { issues } = checkDeclaration(value, 'body');
    if (issues.length > 0)
      return { faults: issues.map(({ name, detail }) => `${file}: ${name || 'the file'} ${detail}`) };
    const declaration = value as ProviderDeclaration;
    const found = contradictionsOf(declaration, basename(path, '.yaml'));
    return found.length > 0 ? { faults: found.map((text) => `${file}: ${text}`) } : { declaration };
  } catch (error) {
    return { faults: [`${file}: ${error instanceof Error ? error.message : String(error)}`] };
  }
}

function noProvider(name: string, names: readonly string[]): string {
  const meant = nearest(name, names);
  return `there is no such provider in the catalogue${meant === undefined ? '' : `; did you mean ${meant}?`}`;
}

function faultOfOrigin(origin: string): string | undefined {
  const url = URL.parse(origin);
  if (!url || !/^https?:$/.test(url.protocol)) return `${JSON.stringify(origin)} is not an http or https URL`;
  if (url.origin !== origin.replace(/\/$/, '')) return 'must be scheme, host and port only';
  return undefined;
}

const urlFields = /^(?:(?:base|auth|token|refresh|revoke|introspect)URL|url|issuer)$/;

/** The declaration with the scheme and host of every URL replaced. */
function moveTo(declaration: ProviderDeclaration, given: string): Provider {
  const origin = new URL(given).origin;
  const move = (value: unknown, key = ''): unknown => {
    if (typeof value === 'string' && urlFields.test(key))
      return value.replace(/^(?:https?:\/\/)?[^/?#]+/, origin);
    if (Array.isArray(value)) return value.map((one) => move(one));
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, move(child, name)]));
  };
  return { ...(move(declaration) as ProviderDeclaration), origin };
}
