// A certificate with its key, as two PEM files or their texts.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'

export type CertificateFiles = { readonly cert: string; readonly key: string }
/** Texts; the certificate may be followed by those of its issuers. */
export type Pair = { readonly cert: string; readonly key: string }

/** Throws where a file cannot be read, is no PEM, or the key is that of another certificate. */
export function readPair(files: CertificateFiles): Pair {
  const pair = { cert: readFileSync(files.cert, 'utf8'), key: readFileSync(files.key, 'utf8') }
  if (!fits(pair)) throw new TypeError(`the key of ${files.key} is not that of ${files.cert}`)
  return pair
}

/** True where the key is that of the certificate. Throws where one of them is no PEM. */
export const fits = ({ cert, key }: Pair): boolean =>
  new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))

/** Differs when one of the files was changed or replaced. */
export const traceOfPair = ({ cert, key }: CertificateFiles): string =>
  [cert, key]
    .map((path) => statSync(path, { throwIfNoEntry: false }))
    .map((stat) => `${stat?.dev} ${stat?.ino} ${stat?.size} ${stat?.mtimeMs}`)
    .join(', ')
