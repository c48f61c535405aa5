import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { assertVolumePaths } from './volume-paths.ts'

const LINKS = {
  vdev: 'dev',
  vetc: 'etc',
  vout: '../../../../etc',
  vroot: '/',
  vproc: 'proc',
  vsys: '/sys',
  vtmp: '/tmp',
  vlong: 'x/'.repeat(11),
  vodd: 'a b',
  vdata: 'data',
  circle: 'circle',
}

test('assertVolumePaths() refuses by links what it refuses by name', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'image-'))
  t.after(() => rmSync(root, { recursive: true }))
  for (const [path, target] of Object.entries({ ...LINKS, 'var-run': '/run' }))
    symlinkSync(target, join(root, path))
  const assertAt = (...paths: readonly string[]) =>
    assertVolumePaths(
      paths.map((path) => ({ path })),
      root,
    )
  for (const path of ['/vdev', '/vdev/shm', '/vetc', '/vout', '/vroot', '/vproc', '/vproc/self'])
    assert.throws(() => assertAt(path), {
      code: 'workload_failed',
      message: new RegExp(`^Could not mount a volume at ${path}: links of the image lead to /`),
    })
  for (const path of ['/vsys', '/vsys/fs', '/var-run', '/vtmp', '/vlong', '/vodd'])
    assert.throws(() => assertAt(path), { code: 'workload_failed' }, path)
  assert.throws(() => assertAt('/circle'), { code: 'image_unsupported' })
  for (const paths of [
    ['/data', '/vdata'],
    ['/vdata/more', '/data'],
  ])
    assert.throws(() => assertAt(...paths), {
      code: 'workload_failed',
      message: /within the volume at \/v?data$/,
    })
  // As a path may name them.
  assertAt('/vdata', '/vtmp/own', '/vetc/app', '/data2')
})
