// Cells of shell scripts for tests.
import assert from 'node:assert/strict'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Cells, CellSpec } from '#cells/cell.ts'
import { createCells } from '#cells/create-cells.ts'
import type { PlaceOptions } from '#cells/place.ts'
import { echoSpec, place, survivors } from './harness.ts'

export const ROOT = { skip: process.getuid?.() === 0 ? false : 'needs root' }

export async function openPlace(t: TestContext, more: Partial<PlaceOptions> = {}) {
  const where = place(more)
  const cells = await createCells(where)
  t.after(async () => {
    await cells.close()
    assert.deepEqual(survivors(where.root), [])
    rmSync(where.root, { recursive: true })
  })
  return { cells, where }
}

/** A cell of a shell script, which is ready once it has made its socket's file. */
export function scriptSpec(
  where: PlaceOptions,
  script: string,
  more: Partial<CellSpec> = {},
): CellSpec {
  const folder = join(where.runFolder, 'scripts', 'script')
  const argv = ['/bin/sh', '-c', script, 'script', join(folder, 's')] as const
  return echoSpec(where, {
    name: 'script',
    socketGroup: 'scripts',
    argv,
    environment: { PATH: '/usr/bin:/bin' },
    ready: {
      probe: async (path) => assert.ok(existsSync(path)),
      timeoutMs: 10_000,
    },
    ...more,
  })
}

export const lastExit = (cells: Cells) => cells.list()[0]?.exits.at(-1)
