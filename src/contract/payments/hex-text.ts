// Hexadecimal of a fixed length, as chains of the EVM write addresses, hashes and signatures; parsed to lower case.
import { z } from 'zod'

export const hexText = (digits: number) =>
  z
    .string()
    .regex(new RegExp(`^0x[0-9a-fA-F]{${digits}}$`), `must be 0x and ${digits} hexadecimal digits`)
    .transform((text) => text.toLowerCase())
