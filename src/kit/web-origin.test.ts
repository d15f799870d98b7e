import { describe, expect, it } from 'vitest';
import { isWebOrigin } from './web-origin.ts';

describe('kit/web-origin', () => {
  it.each([
    'https://app.example.com',
    'http://localhost:3000',
    'https://xn--bcher-kva.example',
    'http://[::1]:8080',
  ])('takes %s', (origin) => {
    expect(isWebOrigin(origin)).toBe(true);
  });

  it.each([
    'https://*',
    'https://*.example.com',
    'https://a;sandbox',
    "https://'self'",
    'https://a,b',
    'https://a_b.example.com',
    'https://app.example.com/',
    'https://App.example.com',
    'https://ann@app.example.com',
    'https://app.example.com:443',
    'ftp://app.example.com',
    'null',
  ])('refuses %s', (origin) => {
    expect(isWebOrigin(origin)).toBe(false);
  });
});
