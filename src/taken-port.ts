type PortVariable = 'SVC_PORT' | 'SVC_PROXY_PORT' | 'SVC_HEALTH_PORT';

/** Begins to listen. A port that cannot be had is told with the variable that names it. */
export async function listening<Result>(
  variable: PortVariable,
  port: number,
  listen: () => Promise<Result>,
): Promise<Result> {
  try {
    return await listen();
  } catch (error) {
    const why = { EADDRINUSE: 'is taken', EACCES: 'is not for this user' }[
      (error as NodeJS.ErrnoException).code ?? ''
    ];
    if (why === undefined) throw error;
    throw new Error(`port ${port} ${why}; set ${variable} to another one`, { cause: error });
  }
}
