/** How long the headers of a request may take to come, in milliseconds. */
export const headersWithinMs = 30_000;

/** How long a request that is read whole may take to come, headers and body, in milliseconds. One that is streamed on is not held to it. */
export const requestWithinMs = 120_000;
