import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErgonError } from '#base/errors.ts'
import { createLogger } from '#base/log.ts'
import { loadModel } from './load-model.ts'

const isInstalled = (name: string): boolean => {
  try {
    return import.meta.resolve(name) !== ''
  } catch {
    return false
  }
}
const skip = isInstalled('@node-llama-cpp/linux-x64-cuda') && 'the CUDA build is installed here'

test('a GPU whose package is not installed is refused by name', { skip }, async () => {
  const log = createLogger('test', { level: 'error' })
  const config = { id: 'm', file: '/nowhere.gguf', kind: 'chat', contextSize: 512 } as const
  await assert.rejects(
    loadModel({ ...config, sequences: 1, threads: 1, gpu: 'cuda' }, log),
    (error) =>
      error instanceof ErgonError &&
      error.code === 'gpu_unusable' &&
      error.message.includes('ERGON_GPU=cuda'),
  )
})
