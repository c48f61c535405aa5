// Tests that mostly wait for other processes, each on its own data, at once: real clients for their processes, a
// rotation of keys 15 s for all gateways. An idle product takes CPU too.
import { suite } from 'node:test'
import { product } from '../product.ts'
import { STORAGE } from '../settings.ts'

product(STORAGE)

const AT_ONCE = 6

suite('side by side', { concurrency: AT_ONCE }, async () => {
  await import('./keys.ts')
  await import('./clients.ts')
  await import('./version-two.ts')
})
