import { exitCodes, Failure } from '../failure.ts';

const lines = 'a JSON object in each line';

/** Throws where the first line shows that no line is going to be a record: then none is sent. */
export function refuseStrange(first: string, file?: string): void {
  const strange = strangenessOf(first, file === undefined ? '' : ` ${file} > lines.ndjson`);
  if (strange)
    throw new Failure(
      `${file ?? 'What was piped in'} ${strange.is}, and svc write takes ${lines}.`,
      strange.remedy,
      exitCodes.usage,
    );
}

function strangenessOf(first: string, into: string): { is: string; remedy: string } | undefined {
  // UTF-16 begins with two bytes that UTF-8 never has.
  if (first.startsWith('\uFFFD\uFFFD')) return { is: 'is UTF-16 text', remedy: 'Save it as UTF-8.' };
  if (first.startsWith('['))
    return { is: 'is a JSON array', remedy: `Make lines of it, such as by jq -c '.[]'${into}` };
  if (first === '{')
    return {
      is: 'has an object over several lines',
      remedy: `Make one line of each, such as by jq -c .${into}`,
    };
  if (first.startsWith('{')) return undefined;
  return {
    is: 'begins with no JSON object',
    remedy: `Write it as '{"email":"ada@example.com"}', one a line.`,
  };
}
