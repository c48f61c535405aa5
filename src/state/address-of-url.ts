// DATABASE_URL as an address that every process can use. Cells see no files of the operator, so certificates and keys
// that the URL names are read here. The modes are libpq's, with the same meaning.
import { readFileSync } from 'node:fs'
import { messageOf } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import type { StateAddress, StateTls } from './connect.ts'

/** The proof that the server owes, by sslmode. A named authority is always demanded, as by libpq. */
const PROOFS: Readonly<Record<string, StateTls['proof'] | 'no TLS'>> = {
  disable: 'no TLS',
  require: 'none',
  'verify-ca': 'authority',
  'verify-full': 'name',
}
/** libpq: the authorities that the system knows. */
const SYSTEM = 'system'

/** Throws `database_unusable` for a mode that is not known and for a file that cannot be read. */
export function addressOfUrl(url: string): Extract<StateAddress, { readonly url: string }> {
  const bare = new URL(url)
  const take = (name: string): string | undefined => {
    const value = bare.searchParams.get(name) ?? undefined
    bare.searchParams.delete(name)
    return value
  }
  const [mode, root, cert, key] = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey'].map(take)
  if ([mode, root, cert, key].every((value) => value === undefined)) return { url }
  const wanted = PROOFS[mode ?? 'verify-full']
  if (wanted === undefined) throw unknownMode(String(mode))
  if (wanted === 'no TLS') return { url: bare.href }
  const ca = root === SYSTEM ? undefined : read('sslrootcert', root)
  const tls = {
    proof: wanted === 'none' && ca !== undefined ? 'authority' : wanted,
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert: read('sslcert', cert) }),
    ...(key !== undefined && { key: read('sslkey', key) }),
  } as const
  return { url: bare.href, tls }
}

function read(parameter: string, path: string | undefined): string | undefined {
  if (path === undefined) return undefined
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw fault(
      'database_unusable',
      `Could not use DATABASE_URL: ${parameter} cannot be read: ${messageOf(error)}`,
      { cause: error },
    )
  }
}

// `prefer` and `allow` would go on without encryption where somebody in between says that the server has none.
const unknownMode = (mode: string) =>
  fault(
    'database_unusable',
    `Could not use DATABASE_URL: sslmode is one of ${Object.keys(PROOFS).join(', ')}: ${mode}`,
  )
