// The settings of the toy.
import { z } from 'zod'
import type { Settings } from '#config/setting.ts'

export const TOY_SETTINGS = {
  toyGreeting: {
    name: 'ERGON_TOY_GREETING',
    flag: 'toy-greeting',
    help: 'Greeting of the toy (default hello)',
    check: z.string().default('hello'),
  },
} satisfies Settings
