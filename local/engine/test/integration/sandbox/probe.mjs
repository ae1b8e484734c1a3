// Tries what a process in the sandbox must not be able to do, and what it has to; prints one JSON object of outcomes.
import { execFileSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'

const { inside, outside, port, socket } = JSON.parse(process.argv[2])

const outcomeOf = async (act) => {
  try {
    await act()
    return 'done'
  } catch (error) {
    return error.code ?? String(error)
  }
}

const connected = async (target) => {
  const client = connect(target)
  await once(client, 'connect')
  client.destroy()
}

const outcomes = {
  'write and rename a file inside': () => {
    mkdirSync(join(inside, 'a/b'), { recursive: true })
    writeFileSync(join(inside, 'file'), 'x')
    renameSync(join(inside, 'file'), join(inside, 'a/b/file'))
    rmSync(join(inside, 'a'), { recursive: true })
  },
  'read a file outside': () => readFileSync(join(outside, 'canary')),
  'list a folder outside': () => readdirSync(outside),
  'write a file outside': () => writeFileSync(join(outside, 'canary'), 'written'),
  'create a file outside': () => writeFileSync(join(outside, 'created'), ''),
  'read the environment of the parent': () => readFileSync(`/proc/${process.ppid}/environ`),
  'signal the parent': () => process.kill(process.ppid, 0),
  'run a program': () => execFileSync('/bin/true'),
  'connect to an address': () => connected({ host: '127.0.0.1', port }),
  'connect to a local socket': () => connected({ path: socket }),
  'send a datagram': async () => {
    const datagrams = createSocket('udp4')
    try {
      await new Promise((resolve, reject) => {
        datagrams.once('error', reject)
        datagrams.send('x', port, '127.0.0.1', (error) => (error ? reject(error) : resolve()))
      })
    } finally {
      datagrams.close()
    }
  },
}

const results = {}
for (const [what, act] of Object.entries(outcomes)) results[what] = await outcomeOf(act)
process.stdout.write(JSON.stringify(results))
