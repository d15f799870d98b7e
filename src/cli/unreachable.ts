/** Why a server gave no answer, as people say it, and what to do about it where that is not to look at the address. */
const reasons: Readonly<Record<string, { why: string; remedy?: string }>> = {
  ECONNREFUSED: { why: 'nothing listens there' },
  ENOTFOUND: { why: 'there is no such host' },
  EAI_AGAIN: { why: 'the name of the host cannot be looked up now' },
  ECONNRESET: { why: 'it broke the connection off' },
  UND_ERR_SOCKET: { why: 'it broke the connection off' },
  ETIMEDOUT: { why: 'it does not answer' },
  UND_ERR_CONNECT_TIMEOUT: { why: 'it does not answer' },
  EHOSTUNREACH: { why: 'no way leads there' },
  ENETUNREACH: { why: 'no way leads there' },
  ERR_SSL_WRONG_VERSION_NUMBER: { why: 'it does not speak TLS', remedy: 'Write the address with http://.' },
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted('its certificate is signed by itself'),
  SELF_SIGNED_CERT_IN_CHAIN: untrusted('its certificate is signed by an authority that is not known here'),
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted('its certificate is signed by nobody who is known here'),
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted('its certificate is signed by nobody who is known here'),
  CERT_HAS_EXPIRED: {
    why: 'its certificate has expired',
    remedy: 'Let whoever runs it renew the certificate.',
  },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    why: 'its certificate is for another name',
    remedy: 'Write the address with the name of its certificate.',
  },
};

function untrusted(why: string) {
  return { why, remedy: 'Set NODE_EXTRA_CA_CERTS to a file with the certificate that it is signed by.' };
}

/** Of an error of `fetch`, or of what it stands for. */
export function reasonOf(error: unknown): { why: string; remedy?: string } {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const { code = '' } = at as NodeJS.ErrnoException;
    const known = reasons[code];
    if (known) return { ...known, why: `${known.why} (${code})` };
  }
  const { cause, message } = error as Error;
  return { why: (cause instanceof Error ? cause.message : message).trim().replace(/\.$/, '') };
}
