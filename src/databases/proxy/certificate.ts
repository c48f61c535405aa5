// The certificate of the proxy, from two PEM files.
import { createHash, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext, type SecureContext } from 'node:tls'

export type Certificate = {
  readonly context: SecureContext
  /** The binding data of tls-server-end-point. Source: RFC 5929, section 4.1. */
  readonly channel: Buffer
}

export type CertificateFiles = { readonly cert: string; readonly key: string }

/** Throws what reading says. */
export function openCertificate({ cert, key }: CertificateFiles): Certificate {
  const chain = readFileSync(cert)
  const context = createSecureContext({
    cert: chain,
    key: readFileSync(key),
    minVersion: 'TLSv1.2',
  })
  return { context, channel: channelOf(new X509Certificate(chain)) }
}

/** The hash of the certificate by the hash of its signature; SHA-256 in the place of weaker ones. */
function channelOf(certificate: X509Certificate): Buffer {
  const algorithm = /sha(384|512)/i.exec(certificate.signatureAlgorithm ?? '')?.[1]
  return createHash(`sha${algorithm ?? '256'}`)
    .update(certificate.raw)
    .digest()
}
