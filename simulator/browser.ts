/** A customer's browser, as far as connecting an account needs one: it keeps cookies by origin and follows redirects. */
export interface Browser {
  /** Opens a page and follows its redirects, up to one for which `stay` holds. */
  open(url: string | URL, stay?: (next: URL) => boolean): Promise<Seen>;
}

/** Where a browser ended up. */
export interface Seen {
  status: number;
  headers: Headers;
  text: string;
  /** Of the page. */
  url: URL;
  /** The redirect that was not followed, because `stay` held. */
  next: URL | undefined;
}

const maxRedirects = 10;

export function newBrowser(): Browser {
  const jars = new Map<string, Map<string, string>>();

  function jarOf({ origin }: URL): Map<string, string> {
    const jar = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, jar);
    return jar;
  }

  async function get(url: URL): Promise<Response> {
    const jar = jarOf(url);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(url, { redirect: 'manual', headers: cookie === '' ? {} : { cookie } });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/;\s*max-age=0/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    return answer;
  }

  return {
    async open(first, stay = () => false) {
      let url = new URL(first);
      for (let redirects = 0; ; redirects += 1) {
        const answer = await get(url);
        const location = answer.headers.get('location');
        const next = location === null ? undefined : new URL(location, url);
        if (!next || stay(next) || redirects === maxRedirects)
          return { status: answer.status, headers: answer.headers, text: await answer.text(), url, next };
        await answer.body?.cancel();
        url = next;
      }
    },
  };
}
