// Clients that nobody here wrote, against the whole product with its default models.
import { after, before } from 'node:test'
import { aiSdkTests } from './ai-sdk.ts'
import { langchainTests } from './langchain.ts'
import { oneNumberTests } from './one-number.ts'
import { openaiTests } from './openai.ts'
import { createWorld, type World } from './world.ts'

let running: World
before(async () => {
  running = await createWorld()
})
after(() => running[Symbol.asyncDispose]())
const world = () => running

openaiTests(world)
aiSdkTests(world)
langchainTests(world)
oneNumberTests(world)
