import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** Starts a compiled program of this project; resolves with its first line on stdout that begins with `ready`. */
export async function startProgram(
  path: string,
  env: Record<string, string>,
  ready: string,
): Promise<{ child: ChildProcess; line: string; stop: () => Promise<void> }> {
  const program = fileURLToPath(new URL(`../../${path}`, import.meta.url))
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (text) => {
      if (text.startsWith(ready)) resolve(text)
    })
    child.once('exit', (code) => reject(new Error(`${path} ended with ${code}`)))
  })
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await exited
  }
  return { child, line, stop }
}
