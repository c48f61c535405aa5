import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { sourceName } from '#contract/functions/source-file.ts'
import { bundleFile } from './bundle.ts'

function folderWith(t: TestContext, ...files: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'bundle-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const file of files) writeFileSync(join(folder, file), 'export default (): number => 1\n')
  return folder
}

test('bundleFile() keeps the name of the source file', async (t) => {
  const folder = folderWith(t, 'hello.ts')
  const { file, source } = await bundleFile(join(folder, 'hello.ts'))
  assert.equal(sourceName(file), 'hello.ts')
  assert.doesNotMatch(source.split('\n//# ', 1)[0] ?? '', /: number/)
})

test('bundleFile() says that a file is missing, and names the one beside it', async (t) => {
  const folder = folderWith(t, 'hello.ts')
  await assert.rejects(bundleFile(join(folder, 'hello.mjs')), {
    message: `There is no file ${join(folder, 'hello.mjs')}`,
    next: `there is ${join(folder, 'hello.ts')}`,
  })
  await assert.rejects(bundleFile(join(folder, 'other.ts')), {
    message: /^There is no file /,
    next: 'check the path, and the folder that you are in',
  })
})
