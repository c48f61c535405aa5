// The images that the state has of versions: those that stay on the node, and those of an older Ergon, whose words and bytes
// are noted.
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { Queryable } from '#state/connect.ts'
import type { WorkloadDriver } from './driver.ts'
import { imageWordOf } from './image-place.ts'

type Deps = {
  readonly state: Queryable
  readonly driver: Pick<WorkloadDriver, 'has' | 'bytesOf'>
}

/** Notes which of the images on the node the versions have: what no version has is removed. */
export async function noteImageWords({ state, driver }: Deps): Promise<void> {
  const { rows } = await state.query<{ image: string; digest: string }>(
    'select distinct image, digest from workload_versions where digest is not null and image_word is null and not gave_up_image',
  )
  for (const one of rows)
    if (driver.has(one))
      await state.query(
        'update workload_versions set image_word = $3 where image = $1 and digest = $2 and image_word is null and not gave_up_image',
        [one.image, one.digest, imageWordOf(one)],
      )
}

/** Measures them one at a time, beside other work. A call that finds none is the last one that asks the state. */
export function createImageMeasures({ state, driver, log }: Deps & { readonly log: Logger }) {
  let isDone = false
  let running: Promise<void> | undefined
  /** The words of those that could not be measured: they come after all others. */
  const failed = new Set<string>()
  const measure = async (signal: AbortSignal) => {
    const { rows } = await state.query<{ image: string; digest: string; word: string }>(
      `select image, digest, image_word as word from workload_versions
       where image_word is not null and image_bytes is null and image_word <> all ($1) limit 1`,
      [[...failed]],
    )
    const [one] = rows
    if (one === undefined) {
      isDone = failed.size === 0
      return failed.clear()
    }
    failed.add(one.word)
    const bytes = await driver.bytesOf(one, signal)
    await state.query(
      'update workload_versions set image_bytes = $2 where image_word = $1 and image_bytes is null',
      [one.word, bytes],
    )
    failed.delete(one.word)
  }
  return {
    /** Begins to measure the next one where none is being measured. */
    begin(signal: AbortSignal): void {
      if (isDone || running !== undefined) return
      running = measure(signal)
        .catch((error: unknown) => {
          if (!signal.aborted) log.warn('An image is not measured', { error: messageOf(error) })
        })
        .finally(() => (running = undefined))
    },
    /** Resolves when none is being measured. */
    idle: async (): Promise<void> => await running,
  }
}

/** Removes images that no version has. */
export async function keepWantedImages({
  state,
  driver,
  log,
}: {
  readonly state: Queryable
  readonly driver: Pick<WorkloadDriver, 'prune'>
  readonly log: Logger
}): Promise<void> {
  await driver
    .prune(async () => {
      const { rows } = await state.query<{ word: string }>(
        `select distinct image_word as word from workload_versions v join resources n on n.id = v.workload
         where image_word is not null and n.actual <> 'deleted'`,
      )
      return new Set(rows.map(({ word }) => word))
    })
    .catch((error: unknown) => log.warn('Images are not removed', { error: messageOf(error) }))
}
