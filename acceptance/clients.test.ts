// Clients that nobody here wrote, against the product with its default models.
import { before } from 'node:test'
import { product, sharedErgon } from '../test/product.ts'
import { METERED } from '../test/settings.ts'
import { aiSdkTests } from './ai-sdk.ts'
import { langchainTests } from './langchain.ts'
import { oneNumberTests } from './one-number.ts'
import { openaiTests } from './openai.ts'
import { toolsTests } from './tools.ts'
import { createWorld, type World } from './world.ts'

product(METERED)

let running: World
before(async () => {
  running = await createWorld(sharedErgon())
})
const world = () => running

openaiTests(world)
aiSdkTests(world)
langchainTests(world)
oneNumberTests(world)
toolsTests(world)
