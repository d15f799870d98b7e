/** The part of the package that tests use; it brings no types of its own. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  interface Saved {
    save(): Promise<string>;
  }
  type Model = new (properties: Record<string, unknown>) => Saved;

  export default class Provider {
    constructor(issuer: string, configuration: Record<string, unknown>);
    readonly Grant: new (
      properties: Record<string, unknown>,
    ) => Saved & { addOIDCScope(scope: string): void };
    readonly AccessToken: Model & { find(token: string): Promise<{ destroy(): Promise<void> } | undefined> };
    readonly RefreshToken: Model;
    readonly Client: { find(id: string): Promise<unknown> };
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
    use(middleware: (context: { path: string }, next: () => Promise<void>) => Promise<void>): void;
    on(event: 'grant.revoked', listener: (context: unknown, grantId: string) => void): void;
    on(event: 'grant.success' | 'grant.error', listener: () => void): void;
  }
}
