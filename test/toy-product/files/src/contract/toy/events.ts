// The events of the toy.
import { z } from 'zod'
import { eventOf, type EventTable } from '#contract/event.ts'

export const TOY_EVENTS = {
  'toy.counted': eventOf('The account counted up.', { count: z.int().min(1) }),
} satisfies EventTable
