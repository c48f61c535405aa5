// The images that the state has of versions before their words and bytes were noted: those of an older Ergon.
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
    'select distinct image, digest from workload_versions where digest is not null and image_word is null',
  )
  for (const one of rows)
    if (driver.has(one))
      await state.query(
        'update workload_versions set image_word = $3 where image = $1 and digest = $2 and image_word is null',
        [one.image, one.digest, imageWordOf(one)],
      )
}

/** Measures them one at a time; a call that finds none is the last one that asks the state. */
export function createImageMeasures({ state, driver }: Deps) {
  let isDone = false
  return {
    async note(): Promise<void> {
      if (isDone) return
      const { rows } = await state.query<{ image: string; digest: string; word: string }>(
        `select image, digest, image_word as word from workload_versions
         where image_word is not null and image_bytes is null limit 1`,
      )
      const [one] = rows
      if (one === undefined) return void (isDone = true)
      const bytes = await driver.bytesOf(one).catch(() => undefined)
      if (bytes === undefined) return
      await state.query(
        'update workload_versions set image_bytes = $2 where image_word = $1 and image_bytes is null',
        [one.word, bytes],
      )
    },
  }
}
