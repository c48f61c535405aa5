// Storage clients nobody here wrote, where they are installed: a folder goes there and back, and nothing
// differs. Each is asked by its own command line, with a home of its own.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'
import { missing, runClient } from './client-programs.ts'

const MIB = 1_048_576
const work = mkdtempSync(join(tmpdir(), 'ergon-clients-'))
const source = join(work, 'source')
let ergon: Ergon

before(() => {
  ergon = sharedErgon()
  mkdirSync(join(source, 'a folder/ü'), { recursive: true })
  writeFileSync(join(source, 'empty'), '')
  writeFileSync(join(source, 'a folder/small + odd %20.txt'), 'some text\n')
  writeFileSync(join(source, 'a folder/ü/日本'), randomBytes(70_000))
  // More than a part, of 8 MiB to aws, and of the sizes that s3cmd and restic get.
  writeFileSync(join(source, 'large'), randomBytes(9 * MIB))
})
after(() => rmSync(work, { recursive: true, force: true }))

/** Runs a client; rejects with what it said when it fails. */
const run = (program: string, words: readonly string[], env: Record<string, string> = {}) =>
  runClient(ergon, program, words, { HOME: work, ...env })

const same = (back: string) => {
  const { status, stdout, stderr } = spawnSync('diff', ['-r', source, join(work, back)])
  assert.equal(status, 0, `${stdout}${stderr}`)
}

/** A process of it takes a second of CPU before it does anything. */
const AWS_COMMANDS = `
import json, sys
from awscli.clidriver import create_clidriver
for words in json.loads(sys.argv[1]):
    code = create_clidriver().main(words)
    if code != 0: sys.exit(code)`

/** Runs commands of aws, in one process where it is a module of the Python that there is. */
async function aws(...commands: string[][]): Promise<string> {
  const all = commands.map((words) => ['--endpoint-url', ergon.baseUrl, 's3', ...words])
  if (spawnSync('python3', ['-c', 'import awscli'], { stdio: 'ignore' }).status === 0)
    return await run('python3', ['-c', AWS_COMMANDS, JSON.stringify(all)])
  let said = ''
  for (const words of all) said += await run('aws', words)
  return said
}

test('aws: a folder there and back', { skip: missing('aws') }, async () => {
  const said = await aws(
    ['mb', 's3://by-aws'],
    ['sync', source, 's3://by-aws/in'],
    ['sync', 's3://by-aws/in', join(work, 'aws')],
    ['mv', 's3://by-aws/in/large', 's3://by-aws/moved'],
    ['ls', 's3://by-aws/'],
    ['rb', '--force', 's3://by-aws'],
  )
  same('aws')
  assert.match(said, /^ +PRE in\/\n[-\d]+ [:\d]+ +9437184 moved$/m)
  assert.match(said, /^remove_bucket: by-aws$/m)
})

test('rclone: a folder there and back', { skip: missing('rclone') }, async () => {
  const remote = `:s3,provider=Other,env_auth=true,endpoint="${ergon.baseUrl}":by-rclone`
  const rclone = (...words: string[]) => run('rclone', ['--config', join(work, 'none'), ...words])
  await rclone('mkdir', remote)
  await rclone('sync', source, remote)
  await rclone('check', source, remote)
  await rclone('copy', remote, join(work, 'rclone'))
  same('rclone')
  await rclone('purge', remote)
})

test('s3cmd: a folder there and back', { skip: missing('s3cmd') }, async () => {
  const host = ergon.baseUrl.replace('http://', '')
  const s3cmd = (...words: string[]) =>
    run('s3cmd', [
      '--no-ssl',
      `--host=${host}`,
      `--host-bucket=${host}`,
      '--region=local',
      `--access_key=${ergon.token}`,
      `--secret_key=${ergon.token}`,
      '--no-progress',
      '--multipart-chunk-size-mb=5',
      ...words,
    ])
  await s3cmd('mb', 's3://by-s3cmd')
  await s3cmd('sync', `${source}/`, 's3://by-s3cmd/')
  mkdirSync(join(work, 's3cmd'))
  await s3cmd('sync', 's3://by-s3cmd/', `${join(work, 's3cmd')}/`)
  same('s3cmd')
  assert.match(await s3cmd('info', 's3://by-s3cmd'), /by-s3cmd/)
  await s3cmd('rb', '--recursive', '--force', 's3://by-s3cmd')
})

test('restic: a backup that checks and comes back', { skip: missing('restic') }, async () => {
  const restic = (...words: string[]) =>
    run('restic', ['-r', `s3:${ergon.baseUrl}/by-restic`, '--no-cache', ...words], {
      RESTIC_PASSWORD: 'a password of this test',
      RESTIC_PACK_SIZE: '4',
    })
  await restic('init')
  await restic('backup', source)
  await restic('check')
  await restic('restore', 'latest', '--target', join(work, 'restic'))
  same(join('restic', source))
})
