import { describe, expect, it } from 'vitest';
import { problemKinds } from '../problems.ts';
import { isOperators } from './operator-words.ts';
import { inOptions, withOption } from './option-names.ts';
import { createProgram } from './program.ts';
import { namesRequest, remedyOf } from './remedies.ts';

/** No command does what their remedies ask for. */
const withoutCommand = new Set(['secrets-not-made-here']);

const told = (code: string, operationId?: string): string =>
  remedyOf({ code, remedy: problemKinds[code]?.remedy ?? '', operationId });

describe('cli/remedies', () => {
  it('names a command for each problem whose remedy is a request, where there is one', () => {
    const left = Object.keys(problemKinds).filter((code) => namesRequest(told(code)));
    expect(left.toSorted()).toEqual([...withoutCommand].toSorted());
  });

  it('names no member of an answer, which a shell does not show', () => {
    const left = Object.keys(problemKinds).filter((code) => told(code).includes('`detail`'));
    expect(left).toEqual([]);
  });

  it('sends nobody to an installation for an operation whose own was deleted', () => {
    const detail = 'The installation of the operation was deleted.';
    const said = remedyOf({ code: 'installation-not-found', remedy: '', operationId: undefined, detail });
    expect(said).toContain('in a new write');
  });

  it('sends nobody to installations for an integration that there is not', () => {
    const detail = 'There is no integration "nope" in this project.';
    const said = remedyOf({ code: 'installation-not-found', remedy: '', operationId: undefined, detail });
    expect(said).toBe('Look for it with `svc integrations list`.');
  });

  it('sends nobody to an installation whom the key does not reach', () => {
    const detail = 'The key or token reaches the group globex alone, not acme.';
    const said = remedyOf({ code: 'installation-not-found', remedy: '', operationId: undefined, detail });
    expect(said).toContain('a key of that group');
  });

  it('names no command that there is not', () => {
    const known = (words: readonly string[]): boolean => {
      if (isOperators(words)) return true;
      let at = createProgram();
      for (const word of words) {
        const next = at.commands.find((one) => one.name() === word);
        if (!next) return false;
        at = next;
      }
      return at.commands.length === 0;
    };
    for (const code of Object.keys(problemKinds))
      for (const [, command = ''] of told(code).matchAll(/`svc ([a-z ]+?)(?: --\w+)?`/g))
        expect({ code, command, known: known(command.split(' ')) }).toEqual({ code, command, known: true });
  });

  it('says options, not members of a request', () => {
    for (const code of Object.keys(problemKinds))
      expect(told(code)).not.toMatch(/upsertBy|destructive=|"move"/);
    expect(withOption('upsertBy: belongs to `type: "upsert"`')).toBe('--by: belongs to --type upsert');
    expect(inOptions('goes on as it was; deploy with destructive=true to end it')).toBe(
      'goes on as it was; deploy with --destructive to end it',
    );
    expect(inOptions('ends the other: export with "move" to go on')).toContain('export with --move');
  });

  it('keeps what the port of the proxy says of the API', () => {
    const { remedy = '' } = problemKinds['proxy-request-invalid'] ?? {};
    const said = `This is the port of the proxy; the API answers at http://127.0.0.1:4000. If a call by the proxy was meant: ${remedy}`;
    expect(remedyOf({ code: 'proxy-request-invalid', remedy: said, operationId: undefined })).toBe(
      'This is the port of the proxy; the API answers at http://127.0.0.1:4000. Name it there: --url, SVC_API_URL, or the one of `svc login`.',
    );
  });

  it.each([
    ['GET /blah/v1/projects/default', 'Check the address, which ends with /blah: '],
    ['POST /blah/write/v1/projects/default/x', 'Check the address, which ends with /blah: '],
    ['GET /v1/projects/default/news', 'The server is older than this command'],
    ['POST /write/v1/projects/default/x', 'The server is older than this command'],
  ])('tells an address with a path of its own from a server that is older: %s', (asked, says) => {
    const detail = `There is no ${asked}.`;
    const said = remedyOf({ code: 'route-not-found', remedy: 'See /docs.', operationId: undefined, detail });
    expect(said.slice(0, says.length)).toBe(says);
  });

  it('names the operation that the problem is about, and leaves a remedy alone that names no request', () => {
    expect(told('nothing-to-retry', 'op-1')).toBe('Look at the outcomes: `svc operations records op-1`.');
    expect(told('idempotency-key-reused', 'op-1')).toContain('`svc operations get op-1`');
    const timedOut = {
      code: 'provider-timeout',
      remedy: 'POST …/operations/{id}:resolve',
      operationId: 'op-1',
    };
    expect(remedyOf(timedOut)).toBe(told('outcome-unknown', 'op-1'));
    const header = 'Send the request again, with `Retry-Failed: true`.';
    expect(remedyOf({ code: 'outcome-unknown', remedy: header, operationId: 'op-1' })).toBe(
      told('outcome-unknown', 'op-1'),
    );
    const remedy = 'Run it again.';
    expect(remedyOf({ code: 'outcome-unknown', remedy, operationId: undefined })).toBe(remedy);
  });
});
