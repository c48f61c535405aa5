// Debian and its derivatives ship Python without pip. As root there we install pip; elsewhere we only report its absence.
import { existsSync } from 'node:fs'

import type { Logger } from '#base/log.ts'

import { runTool } from './command.ts'

const INSTALL_MAX_MS = 600_000

/** Installs python3-pip with apt-get where that can work; whether it did. */
export async function installPip(log: Logger, signal: AbortSignal): Promise<boolean> {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return false
  log.info('Installing python3-pip with apt-get, to fetch packages with')
  const install = ['install', '--no-install-recommends', '--no-upgrade', 'python3-pip']
  if ((await aptGet(install, signal)).code === 0) return true
  // A fresh image has no package lists; fetching them first would cost every other machine seconds.
  if ((await aptGet(['update'], signal)).code !== 0) return false
  return (await aptGet(install, signal)).code === 0
}

const aptGet = (args: readonly string[], signal: AbortSignal) =>
  runTool(['env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '--yes', '--quiet', ...args], {
    signal,
    timeoutMs: INSTALL_MAX_MS,
  })
