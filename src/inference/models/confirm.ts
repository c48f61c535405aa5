// The caller who adds a model uses it at once: the answer waits until every gateway has read the table again.
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { Cells } from '#cells/cell.ts'
import { ask } from '#node/cell-specs.ts'

/** A gateway's page that reads the table of models, and answers when that is in force. */
export const MODELS_PAGE = '/models'
const CONFIRM_MS_MAX = 3000

/**
 * Resolves when every gateway that runs knows the models as they now are; a gateway that is only
 * starting reads them anyway. One that says nothing for 3 s is not waited for: it looks every 5 s.
 */
export async function confirmModels(cells: Cells, log: Logger): Promise<void> {
  const gateways = cells
    .list()
    .filter((cell) => cell.spec.name.startsWith('gw-') && cell.state === 'ready')
  const limit = AbortSignal.timeout(CONFIRM_MS_MAX)
  await Promise.all(
    gateways.map(({ socket, spec }) =>
      ask(socket, MODELS_PAGE, limit).catch((error: unknown) =>
        log.warn('A gateway did not say that it has read the models', {
          gateway: spec.name,
          error: messageOf(error),
        }),
      ),
    ),
  )
}
