// A product of a file's own, with the image of server.pl among the images of its node.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { startErgon, type Ergon } from '../start-ergon.ts'
import { writeServerImage } from './image.ts'
import { workloadClient } from './workload-client.ts'

export type TestWorkloads = {
  readonly ergon: Ergon
  readonly client: ReturnType<typeof workloadClient>
  /** The name of the image, and the folder where it lies. */
  readonly image: string
  readonly folder: string
}

/** `opened` gets it before the first test. */
export function workloadsOfFile(
  env: Readonly<Record<string, string>>,
  opened: (made: TestWorkloads) => void,
): void {
  let folder = ''
  let ergon: Ergon | undefined
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ergon-workloads-'))
    // Cells have uids of their own.
    chmodSync(folder, 0o755)
    writeServerImage(join(folder, 'server'))
    ergon = await startErgon({ env: { ERGON_IMAGE_FOLDER: folder, ...env } })
    opened({ ergon, client: workloadClient(ergon), image: `oci:${folder}/server:v1`, folder })
  })
  after(async () => {
    await ergon?.stop()
    rmSync(folder, { recursive: true, force: true })
  })
}
