/** An address with the port of its connection, as some proxies (those of Azure) write it into `X-Forwarded-For`. */
const WITH_PORT = /^(?:\[(?<ipv6>[^\]]+)\](?::\d+)?|(?<ipv4>\d+\.\d+\.\d+\.\d+):\d+)$/;

/** The address that a request comes from, as Express knows it, without a port: each connection would be another client. */
export function clientIp({ ip }: { readonly ip?: string | undefined }): string | undefined {
  const { ipv4, ipv6 } = (ip && WITH_PORT.exec(ip)?.groups) || {};
  return ipv6 ?? ipv4 ?? ip;
}
