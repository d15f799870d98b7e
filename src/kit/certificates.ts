import { X509Certificate } from 'node:crypto';
import { faulty, good, warning, type Finding } from './finding.ts';

const dayMs = 24 * 3_600_000;
/** Time enough to get another one. */
const soonDays = 21;

/** When a certificate ends, and whether that is soon. */
export function judgeEnd(subject: string, whose: string, endsAt: Date, now = Date.now()): Finding {
  const days = Math.floor((endsAt.getTime() - now) / dayMs);
  const day = endsAt.toISOString().slice(0, 10);
  if (endsAt.getTime() <= now)
    return faulty(subject, `the certificate of ${whose} ended on ${day}`, 'Put a new one in its place.');
  if (days < soonDays)
    return warning(
      subject,
      `the certificate of ${whose} ends on ${day}, in ${days} days`,
      'Renew it before.',
    );
  return good(subject, `the certificate of ${whose} holds until ${day}`);
}

/** Those that have ended or soon do. */
export function endingCertificates(pem: string | undefined): Finding[] {
  return pem === undefined ? [] : judgePem('SVC_EXTRA_CA', pem).filter(({ state }) => state !== 'good');
}

/** Of a text with certificates in PEM, each. What is none is a fault. */
export function judgePem(subject: string, pem: string, now = Date.now()): Finding[] {
  const parts = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  if (parts.length === 0)
    return [
      faulty(subject, 'holds no certificate', 'Give certificates in PEM: -----BEGIN CERTIFICATE-----.'),
    ];
  return parts.map((part) => {
    try {
      const { subject: name, validTo } = new X509Certificate(part);
      return judgeEnd(subject, name.replaceAll('\n', ', '), new Date(validTo), now);
    } catch (error) {
      return faulty(
        subject,
        `holds a certificate that cannot be read: ${(error as Error).message}`,
        'Put it in whole.',
      );
    }
  });
}
