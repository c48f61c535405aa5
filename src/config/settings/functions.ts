// The settings of functions.
import { z } from 'zod'
import { count, onOff } from '#config/checks.ts'
import type { Settings } from '#config/setting.ts'

export const FUNCTIONS_SETTINGS = {
  functions: {
    name: 'ERGON_FUNCTIONS',
    flag: 'functions',
    help: 'on or off: functions of accounts on this node (default on)',
    check: onOff.default(true),
  },
  functionIdleSeconds: {
    name: 'ERGON_FUNCTION_IDLE_SECONDS',
    flag: 'function-idle-seconds',
    help: 'Seconds without a request after which a function is stopped; the next request starts it (default 60)',
    check: count(1, 86_400).default(60),
  },
  functionSpares: {
    name: 'ERGON_FUNCTION_SPARES',
    flag: 'function-spares',
    help: 'Started processes that wait for functions to wake, each 20 to 40 MB that the operator pays; 0 for none (default 2)',
    check: count(0, 100).default(2),
  },
  functionsUrl: {
    name: 'ERGON_FUNCTIONS_URL',
    flag: 'functions-url',
    help: 'Public address of functions behind a proxy, such as https://functions.example.com; each account has a name of its own below it (default: loopback only)',
    check: z.url({ protocol: /^https?$/ }).optional(),
  },
} satisfies Settings
