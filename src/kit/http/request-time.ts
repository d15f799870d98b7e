/** How long the headers of a request may take to come, in milliseconds. */
const headersWithinMs = 30_000;

/** Of each listener. Node looks for late headers and requests every 30 s by default, which doubled the time that headers have. */
export const patience = { headersTimeout: headersWithinMs, connectionsCheckingInterval: 3_000 };

/** How long a request that is read whole may take to come, headers and body, in milliseconds. One that is streamed on is not held to it. */
export const requestWithinMs = 120_000;
