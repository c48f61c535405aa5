// Evidence packs as commands show, wait for and download them.
import { createWriteStream, statSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { sleep } from '#base/clock.ts'
import type { packReply } from '#contract/compliance/compliance.ts'
import type { CommandCall } from './call.ts'
import { apiBytes, apiGet, Unreachable, replyOf } from './client.ts'
import { CommandError, EXIT, tell } from './output.ts'
import { wholeFile } from './whole-file.ts'
import type { ReplyOf } from '#contract/reply-of.ts'

type Options = CommandCall['options']
export type PackEntry = ReplyOf<typeof packReply>

const LOOK_MS = 1000
const TRIES = 5
const AGAIN_MS = 1000

export const packPath = (id: string, below = ''): string =>
  `/v1/compliance/packs/${encodeURIComponent(id)}${below}`

export const getPack = async (options: Options, id: string): Promise<PackEntry> =>
  replyOf<typeof packReply>(await apiGet(options, packPath(id)))

/** Waits until a pack is ready, with its progress on stderr. Throws a CommandError with the reason of a failed one. */
export async function waitForPack(options: Options, id: string): Promise<PackEntry> {
  let shown = ''
  for (;;) {
    const pack = await getPack(options, id)
    if (pack.status === 'ready') return pack
    if (pack.status === 'failed')
      throw new CommandError(`Could not make the evidence pack ${id}: ${pack.reason}`, EXIT.failed)
    const now = stateOf(pack)
    if (now !== shown) tell(`${id} ${now}`)
    shown = now
    await sleep(LOOK_MS)
  }
}

/** The state of a pack in some words. */
export function stateOf({ status, reason, progress }: PackEntry): string {
  if (status !== 'running') return reason === null ? status : `${status}: ${reason}`
  if (progress === null || progress.total === 0) return status
  return `running: ${Math.floor((100 * progress.done) / progress.total)} %`
}

/** Downloads a pack; a connection that breaks is taken up where it ended. */
export async function downloadPack(options: Options, id: string, file: string): Promise<void> {
  await wholeFile(file, async (path) => {
    for (let attempt = 1; ; attempt++) {
      const from = statSync(path, { throwIfNoEntry: false })?.size ?? 0
      const bytes = await apiBytes(options, packPath(id, '/content'), from)
      try {
        return await pipeline(bytes, createWriteStream(path, { flags: 'a' }))
      } catch (error) {
        if (error instanceof CommandError || attempt === TRIES) throw broken(file, error)
        await sleep(AGAIN_MS)
      }
    }
  })
}

const broken = (file: string, error: unknown) =>
  new Unreachable(
    `Could not write ${file}: ${error instanceof Error ? error.message : String(error)}`,
  )
