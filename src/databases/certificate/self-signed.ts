// A certificate of the node's own for the database endpoint, where the operator gives none: clients encrypt with it,
// and a driver that is given the file can check it.
import { webcrypto, X509Certificate } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { writeDurably } from '#base/durable-file.ts'
import type { CertificateFiles } from '#node/certificate-pair.ts'

const YEARS = 10
const YEAR_MS = 365.25 * 24 * 3_600_000

/** The last of its validity in which a start makes a new one. */
const RENEWAL_MS = 30 * 24 * 3_600_000

/** The files in the folder; made where they are absent, of another host, or at their end. */
export async function selfSigned(folder: string, host: string): Promise<CertificateFiles> {
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
  if (existsSync(files.cert) && isOf(host, new X509Certificate(readFileSync(files.cert))))
    return files
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // Loaded only here: a node makes one certificate in its life, mostly.
  await import('reflect-metadata')
  const x509 = await import('@peculiar/x509')
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const made = await x509.X509CertificateGenerator.createSelfSigned({
    name: `CN=${host}`,
    notBefore: new Date(Date.now() - 3_600_000),
    notAfter: new Date(Date.now() + YEARS * YEAR_MS),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.SubjectAlternativeNameExtension([
        { type: isIP(host) === 0 ? 'dns' : 'ip', value: host },
        { type: 'dns', value: 'localhost' },
        { type: 'ip', value: '127.0.0.1' },
      ]),
    ],
  })
  const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)
  writeDurably(files.key, x509.PemConverter.encode(key, 'PRIVATE KEY'), 0o600)
  // Last: its presence says that both are there.
  writeDurably(files.cert, made.toString('pem'), 0o644)
  return files
}

const isOf = (host: string, certificate: X509Certificate): boolean =>
  (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined &&
  certificate.validToDate.getTime() - Date.now() > RENEWAL_MS
