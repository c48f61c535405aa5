// Tells gateways that the disk is full: the agent calls each gateway's own socket, each second while the disk is
// full, so that a gateway that was just started hears it too.
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { Cells } from '#cells/cell.ts'
import { ask } from './cell-specs.ts'

const PAGES = { full: '/disk/full', free: '/disk/free' } as const
const ASK_MS_MAX = 500

/** The pages of a gateway that receive the state of the disk. */
export const diskPages = (onChange: (isFull: boolean) => void) => ({
  [PAGES.full]: () => onChange(true),
  [PAGES.free]: () => onChange(false),
})

/** Tells every gateway that runs; resolves with whether all have heard it. */
export async function tellDisk(cells: Cells, isFull: boolean, log: Logger): Promise<boolean> {
  const gateways = cells
    .list()
    .filter((cell) => cell.spec.name.startsWith('gw-') && cell.state === 'ready')
  const limit = AbortSignal.timeout(ASK_MS_MAX)
  const page = isFull ? PAGES.full : PAGES.free
  const heard = await Promise.all(
    gateways.map(async ({ socket, spec }) => {
      try {
        await ask(socket, page, limit)
        return true
      } catch (error) {
        log.warn('A gateway did not hear of the disk', {
          gateway: spec.name,
          error: messageOf(error),
        })
        return false
      }
    }),
  )
  return heard.every(Boolean)
}
