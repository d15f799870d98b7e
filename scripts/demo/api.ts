/** Does a part of the demo and shows what came of it. */
export type Step = <Result>(name: string, work: () => Promise<[Result, string]>) => Promise<Result>;

/** A caller of the platform, as a builder's application would be: plain HTTP and JSON. */
export interface Api {
  call<Answer>(method: string, path: string, body?: unknown): Promise<Answer>;
  text(method: string, path: string, body?: unknown): Promise<string>;
}

export function createApi(base: string, apiKey: string): Api {
  async function text(method: string, path: string, body?: unknown): Promise<string> {
    const answer = await fetch(base + path, {
      method,
      headers: { 'X-Api-Key': apiKey, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const said = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${summaryOf(said)}`);
    return said;
  }
  return {
    text,
    call: async <Answer>(method: string, path: string, body?: unknown) => {
      const said = await text(method, path, body);
      return (said === '' ? undefined : JSON.parse(said)) as Answer;
    },
  };
}

/** A problem's sentence and remedy, or the start of whatever else was answered. */
function summaryOf(body: string): string {
  try {
    const problem = JSON.parse(body) as { detail?: string; remedy?: string };
    if (problem.detail) return `${problem.detail} ${problem.remedy ?? ''}`.trim();
  } catch {
    // Not JSON: shown as it came.
  }
  return body.slice(0, 300);
}
