// The bundle of the agent that an earlier start has made in the data folder.
import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { AGENT_FILE, bundleOf, bundlesIn, COMPILED_FOLDER } from './bundles.ts'
import { compiledVersion, STAMP } from './code-version.ts'

export type AgentBundle = {
  readonly address: string
  /** compiledVersion() returns it. */
  readonly version: string
}

/** The agent's bundle of this code; undefined where the data folder has none, or others may write it. */
export function agentBundle(dataFolder: string): AgentBundle | undefined {
  const folder = resolve(dataFolder, COMPILED_FOLDER)
  const bundle = join(bundlesIn(folder), bundleOf(AGENT_FILE))
  try {
    const isOurs = [folder, join(folder, STAMP), bundlesIn(folder), bundle].every(isOnlyOurs)
    const version = isOurs ? compiledVersion(folder) : undefined
    return version === undefined ? undefined : { address: pathToFileURL(bundle).href, version }
  } catch {
    // One of them is absent, or is being made.
    return undefined
  }
}

/** The agent may be root: nobody else may have written what it runs. */
function isOnlyOurs(path: string): boolean {
  const { uid, mode } = statSync(path)
  return uid === process.geteuid?.() && (mode & 0o022) === 0
}
