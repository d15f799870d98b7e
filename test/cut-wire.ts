import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Bytes between two ports, which stop or end when told. */
export interface CutWire {
  port: number;
  count(): number;
  /** `cut`: what is open breaks. `hang`: nothing passes. */
  is(how: 'open' | 'hang' | 'cut'): void;
  close(): void;
}

export async function startCutWire(to: number): Promise<CutWire> {
  const ends = new Set<Socket>();
  let state: 'open' | 'hang' = 'open';
  let count = 0;
  const server = createServer((near) => {
    count += 1;
    const far = connect(to, '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      ends.add(one);
      one.on('data', (part: Buffer) => state === 'open' && other.write(part));
      one.on('error', () => other.destroy());
      one.on('close', () => {
        ends.delete(one);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    for (const end of ends) end.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    count: () => count,
    is(how) {
      // Bytes that were held back are lost, so the connections end.
      if (how === 'cut' || (how === 'open' && state === 'hang')) cut();
      state = how === 'hang' ? 'hang' : 'open';
    },
    close() {
      server.close();
      cut();
    },
  };
}
