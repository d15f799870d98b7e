/** Words of a table, one a line or several. */
const words = (table: string): string[] => table.trim().split(/\s+/);

/** Addresses that nobody may make us dial, by the reason in the IANA special-purpose registries. */
export const insideAddresses: Record<string, string[]> = {
  loopback: words('127.0.0.1 127.0.0.0 127.0.0.2 127.1.2.3 127.255.255.255 ::1 0:0:0:0:0:0:0:1'),
  unspecified: words('0.0.0.0 0.0.0.1 0.1.2.3 0.255.255.255 :: 0:0:0:0:0:0:0:0'),
  private: words(`10.0.0.0 10.0.0.1 10.255.255.255 172.16.0.0 172.16.0.1 172.20.10.2 172.31.255.255
    192.168.0.0 192.168.0.1 192.168.255.255`),
  carrier: words('100.64.0.0 100.64.0.1 100.100.100.200 100.127.255.255'),
  linkLocal: words(`169.254.0.0 169.254.0.1 169.254.255.255 fe80:: fe80::1 fe80::1%lo fe80::1%eth0 febf::1
    fec0::1 feff::1`),
  metadata: words('169.254.169.254 169.254.170.2 169.254.169.253 fd00:ec2::254 fd20:ce::254'),
  multicast: words(`224.0.0.0 224.0.0.1 224.0.0.251 232.1.1.1 239.255.255.255 ff00:: ff01::1 ff02::1 ff02::fb
    ff05::2 ff0e::1`),
  reserved:
    words(`192.0.0.0 192.0.0.1 192.0.0.8 192.0.0.170 192.0.2.0 192.0.2.1 192.88.99.1 198.18.0.0 198.18.0.1
    198.19.255.255 198.51.100.1 203.0.113.1 203.0.113.255 240.0.0.0 240.0.0.1 247.1.1.1 254.255.255.255
    255.255.255.254 255.255.255.255 100::1 2001:2::1 2001:10::1 2001:20::1 2001:db8::1 2001:db8:ffff::1 3fff::1
    3ffe::1 5f00::1 1::1 200::1 4000::1 e000::1`),
  uniqueLocal: words('fc00:: fc00::1 fd00::1 fd12:3456:789a:1::1 fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'),
  mapped: words(`::ffff:127.0.0.1 ::ffff:7f00:1 0:0:0:0:0:ffff:7f00:0001 ::FFFF:127.0.0.1 ::ffff:10.0.0.1
    ::ffff:a00:1 ::ffff:169.254.169.254 ::ffff:a9fe:a9fe ::ffff:0.0.0.0 ::ffff:192.168.1.1 ::ffff:100.64.0.1
    ::ffff:8.8.8.8`),
  compatible: words('::127.0.0.1 ::7f00:1 ::10.0.0.1 ::169.254.169.254 ::8.8.8.8 ::2 ::ffff'),
  translated: words('::ffff:0:127.0.0.1 ::ffff:0:7f00:1 ::ffff:0:a9fe:a9fe'),
  nat64: words(`64:ff9b::127.0.0.1 64:ff9b::7f00:1 64:ff9b::10.0.0.1 64:ff9b::169.254.169.254 64:ff9b::8.8.8.8
    64:ff9b:1::1 64:ff9b:1:ffff::7f00:1`),
  sixToFour: words(
    '2002:7f00:1:: 2002:7f00:0001::1 2002:a00:1:: 2002:a9fe:a9fe:: 2002:c0a8:101::1 2002:808:808::1',
  ),
  teredo: words('2001:: 2001::1 2001:0:7f00:1:: 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:0:a9fe:a9fe::1'),
  zone: words('::1%lo ::1%1 2606:4700::1111%eth0 fd00::1%eth0'),
};

export const publicAddresses =
  words(`1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255
  128.0.0.0 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.167.255.255 192.169.0.0 192.0.1.1 192.0.3.0
  198.17.255.255 198.20.0.0 198.51.99.255 203.0.112.1 203.0.114.0 223.255.255.255 2000::1 2606:4700::1111
  2a00:1450:4001::1 2001:4860:4860::8888 2620:fe::fe 2003::1 2400:cb00::1`);

/** Spellings of 127.0.0.1, or of a way to it, as they may stand in a URL; `@` stands for the port. */
export const loopbackUrls = words(String.raw`
  http://127.0.0.1:@/ HTTP://127.0.0.1:@/ http:\\127.0.0.1:@\ http:127.0.0.1:@ http:///127.0.0.1:@/ http:/127.0.0.1:@/
  http://127.0.0.1.:@/ http://127.1:@/ http://127.0.1:@/ http://127.1.:@/ http://2130706433:@/ http://2130706433.:@/
  http://0x7f000001:@/ http://0X7F000001:@/ http://0x7F.0x0.0x0.0x1:@/ http://0x7f.1:@/ http://0x7f.0.1:@/
  http://0x7f.0x000001:@/ http://017700000001:@/ http://0177.0.0.1:@/ http://0177.0.0.01:@/ http://0177.1:@/
  http://0177.0x0.0.1:@/ http://00000177.0.0.1:@/ http://127.0x0.0.1:@/ http://127.000.000.001:@/
  http://127.0.0.0x1:@/ http://%31%32%37.0.0.1:@/ http://127%2E0%2E0%2E1:@/ http://127.0.0.%31:@/
  http://①②⑦.⓪.⓪.①:@/ http://①②⑦.0.0.1:@/ http://１２７.０.０.１:@/ http://𝟭𝟮𝟳.𝟬.𝟬.𝟭:@/ http://¹²⁷.⁰.⁰.¹:@/
  http://127。0。0。1:@/ http://127．0．0．1:@/ http://127｡0｡0｡1:@/ http://①②⑦。1:@/ http://0ⓧ7f.1:@/
  http://localhost:@/ http://LOCALHOST:@/ http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:@/ http://ｌｏｃａｌｈｏｓｔ:@/ http://local%68ost:@/
  http://0.0.0.0:@/ http://0:@/ http://0.:@/ http://0x0:@/ http://00:@/ http://[::ffff:127.0.0.1]:@/
  http://[::ffff:7f00:1]:@/ http://[0:0:0:0:0:ffff:7f00:1]:@/ http://[::FFFF:127.0.0.1]:@/
  http://127.0.0.1:0@/ http://127.0.0.1:@/?host=provider.test http://127.0.0.1:@#provider.test
  http://127.0.0.1:@\.provider.test/ http://127.0.0.1:@?.provider.test/`);

/** The same where only the address is refused: nothing of this machine needs to listen there. */
export const insideUrls = words(`
  http://[::1]:@/ http://[0:0:0:0:0:0:0:1]:@/ http://[::]:@/ http://[::127.0.0.1]:@/ http://[64:ff9b::7f00:1]:@/
  http://[2002:7f00:1::]:@/ http://[2001::7f00:1]:@/ http://[fe80::1]:@/ http://[fd00:ec2::254]:@/ http://[ff02::1]:@/
  http://169.254.169.254/latest/meta-data/ http://169.254.169.254.:80/ http://2852039166/ http://0xa9fea9fe/
  http://0xA9.0xFE.0xA9.0xFE/ http://0251.0376.0251.0376/ http://025177524776/ http://169.254.43518/ http://169.16689662/
  http://①⑥⑨.②⑤④.①⑥⑨.②⑤④/ http://[::ffff:a9fe:a9fe]/ http://[::ffff:169.254.169.254]/ http://100.100.100.200/
  http://10.1/ http://0xa000001/ http://192.168.257/ http://172.1048577/ https://10.0.0.1/ https://[fc00::1]/`);

/** Refused before anything is resolved: user information, other schemes, what is no URL. `@@` stands for the port. */
export const malformedUrls = words(String.raw`
  http://user@127.0.0.1:@@/ http://user:pass@127.0.0.1:@@/ http://:pass@127.0.0.1:@@/ http://1.1.1.1@127.0.0.1:@@/
  http://provider.test:80@127.0.0.1:@@/ http://provider.test%2F@127.0.0.1:@@/ http://provider.test%23@127.0.0.1:@@/
  http://provider.test&@127.0.0.1:@@/ http://a:b@c@127.0.0.1:@@/ http://provider.test;@127.0.0.1:@@/
  ftp://127.0.0.1:@@/ file:///etc/passwd gopher://127.0.0.1:@@/ data:text/plain,x javascript:0 ws://127.0.0.1:@@/
  blob:http://127.0.0.1:@@/x about:blank unix:/run/docker.sock dict://127.0.0.1:@@/ ldap://127.0.0.1:@@/
  //127.0.0.1:@@/ /127.0.0.1:@@ 127.0.0.1 http:// http://[::1 http://[fe80::1%25lo]:@@/ http://[::1%lo]:@@/
  http://127.0.0.1:99999/ http://127.0.0.1:-1/ http://127.0.0.1:8o/ http://127.0.0.256:@@/ http://4294967296:@@/
  http://0x100000000:@@/ http://1.2.3.4.5:@@/ http://a<b:@@/ http://a^b:@@/ http://a%00b:@@/ http://%:@@/`);

/** What is not the web's, on an address that would do otherwise. */
export const closedPorts = [
  0, 1, 21, 22, 23, 25, 53, 110, 445, 2375, 3306, 5432, 6379, 8080, 8443, 9200, 11211, 65_535,
];

/** Names as a dialer may be given them, without a URL parser before it; the system turns each into 127.0.0.1 or ::1. */
export const rawLoopbackHosts = words(`127.0.0.1 ::1 127.1 127.0.1 0177.0.0.1 0x7f.0.0.1 0x7f000001 2130706433
  017700000001 localhost LocalHost ::ffff:127.0.0.1 ::ffff:7f00:1 ::1%lo 0 0.0.0.0 0x0 ::`);

/** Answers of the fake name server; each set has an address that must not be dialled. */
export const insideNames: Record<string, string[]> = {
  'loopback.test': ['127.0.0.1'],
  'loopback-v6.test': ['::1'],
  'zero.test': ['0.0.0.0'],
  'private.test': ['10.0.0.1'],
  'metadata.test': ['169.254.169.254'],
  'mapped.test': ['::ffff:127.0.0.1'],
  'nat64.test': ['64:ff9b::7f00:1'],
  'six-to-four.test': ['2002:7f00:1::'],
  'teredo.test': ['2001:0:7f00:1::'],
  'unique-local.test': ['fd00::1'],
  'multicast.test': ['224.0.0.1'],
  'public-then-loopback.test': ['1.1.1.1', '127.0.0.1'],
  'loopback-then-public.test': ['127.0.0.1', '1.1.1.1'],
  'last-of-four.test': ['1.1.1.1', '8.8.8.8', '9.9.9.9', '127.0.0.1'],
  'public-v4-private-v6.test': ['1.1.1.1', 'fd00::1'],
  'private-v4-public-v6.test': ['10.0.0.1', '2606:4700::1111'],
  'compatible.test': ['::127.0.0.1'],
};

/** Targets that try to reach another host; `evil` stands for an address of ours. */
export function targetProbes(evil: string): string[] {
  const leading = words(
    String.raw`//@ /\@ \\@ ///@ ?@ :80?@ .@ /?@ /:80?@ /http://@ /..//@ http://@ https:@`,
  );
  const plain =
    words(String.raw`/crm/v3 /a/../../b /a/%2e%2e/b /a/..%2fb /a/.%2e/b /a//b /a;/../b /x#f /%00 /é * ?q=1
    /..\..\x`);
  // A question mark stands for an at sign, which stands for the address.
  const forms = leading.map((form) => `${form.replace('@', evil).replace('?', '@')}/x`);
  return [...plain, ...forms, '/a b', `/\t/${evil}`, `/\n//${evil}/`];
}
