import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EgressPolicy } from './policy.ts'

const policyWith = (...allow: string[]) =>
  new EgressPolicy({ allow, ownAddresses: () => new Set(['9.9.9.1']) })

const publicAddresses = [
  '1.1.1.1',
  '8.8.8.8',
  '93.184.216.34',
  '172.15.255.255',
  '172.32.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2606:4700::1111',
  '2a00:1450::1',
  '::ffff:8.8.8.8',
  '64:ff9b::808:808',
]

const closedAddresses = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '100.64.0.1',
  '100.127.255.255',
  '127.0.0.1',
  '127.255.255.255',
  '169.254.169.254',
  '169.254.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.0.0.170',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::2',
  '::127.0.0.1',
  '::7f00:1',
  '::8.8.8.8',
  '::808:808',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:169.254.169.254',
  '::ffff:0:127.0.0.1',
  '::ffff:0:8.8.8.8',
  '64:ff9b::7f00:1',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b::a00:1',
  '64:ff9b:1::808:808',
  '100::1',
  '2001::1',
  '2001:0:4136:e378:8000:63bf:3fff:fdd2',
  '2001:2::1',
  '2001:10::1',
  '2001:20::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '2002:808:808::1',
  '3fff::1',
  '4000::1',
  '5f00::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
]

test('only public addresses are open', () => {
  const policy = policyWith()
  for (const address of publicAddresses) assert.ok(policy.judgeAddress(address, 443).allowed, address)
  for (const address of closedAddresses) assert.ok(!policy.judgeAddress(address, 443).allowed, address)
  for (const text of ['', 'example.com', '127.1', '0x7f.1', '1.2.3.4.5', '[::1]']) {
    assert.ok(!policy.judgeAddress(text, 443).allowed, text)
  }
})

test('a name that resolves to a closed address is denied like the address', () => {
  const policy = policyWith()
  const target = { host: 'a.example', port: 443 }
  for (const address of publicAddresses) assert.ok(policy.judgeResolved(target, address).allowed, address)
  for (const address of closedAddresses) assert.ok(!policy.judgeResolved(target, address).allowed, address)
})

test('the reason names the kind of address, but not the address behind a name', () => {
  assert.deepEqual(policyWith().judgeAddress('100.64.0.1', 443), {
    allowed: false,
    reason: 'it is an address that is not public (carrier grade nat)',
  })
  const verdict = policyWith().judgeResolved({ host: 'a.example', port: 443 }, '10.1.2.3')
  assert.deepEqual(verdict, {
    allowed: false,
    reason: 'it resolves to an address that is not public (private)',
  })
})

test('public addresses of the host itself are closed unless listed', () => {
  assert.ok(!policyWith().judgeAddress('9.9.9.1', 443).allowed)
  assert.ok(!policyWith().judgeAddress('::ffff:9.9.9.1', 443).allowed)
  assert.ok(policyWith().judgeAddress('9.9.9.2', 443).allowed)
  assert.ok(policyWith('9.9.9.1').judgeAddress('9.9.9.1', 443).allowed)
})

test('port 25 is denied everywhere, unless an entry names it', () => {
  const policy = policyWith('10.0.0.0/8', 'intranet:*', 'mail:25', '10.0.0.9:25')
  assert.ok(!policy.judgeAddress('8.8.8.8', 25).allowed)
  assert.ok(!policy.judgeAddress('10.0.0.1', 25).allowed)
  assert.ok(!policy.judgeTarget({ host: 'a.example', port: 25 }).allowed)
  assert.ok(!policy.judgeTarget({ host: 'intranet', port: 25 }).allowed)
  assert.ok(policy.judgeTarget({ host: 'mail', port: 25 }).allowed)
  assert.ok(policy.judgeAddress('10.0.0.9', 25).allowed)
  const other = new EgressPolicy({ allow: [], deniedPorts: [6667] })
  assert.ok(!other.judgeAddress('8.8.8.8', 6667).allowed)
  assert.ok(other.judgeAddress('8.8.8.8', 25).allowed)
})

test('a listed CIDR opens its addresses in every notation, and names that resolve to them', () => {
  const policy = policyWith('10.1.0.0/16', 'fd00::/8', '::ffff:192.168.7.0/120', '169.254.169.254')
  for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '64:ff9b::a01:203', 'fd00:ec2::254', '192.168.7.9']) {
    assert.ok(policy.judgeAddress(address, 8080).allowed, address)
    assert.ok(policy.judgeResolved({ host: 'a.example', port: 8080 }, address).allowed, address)
  }
  for (const address of ['10.2.0.1', '2002:a01:203::', '192.168.8.1', '169.254.169.253', '::a01:203']) {
    assert.ok(!policy.judgeAddress(address, 8080).allowed, address)
  }
})

test('an IPv6 network does not open the IPv4 addresses inside its addresses', () => {
  const policy = policyWith('::/0')
  assert.ok(policy.judgeAddress('fd00::1', 80).allowed)
  for (const address of ['2002:7f00:1::', '::127.0.0.1', '64:ff9b::a9fe:a9fe', '::ffff:127.0.0.1']) {
    assert.ok(!policy.judgeAddress(address, 80).allowed, address)
  }
})

test('a listed name may be private on its port, but not a metadata service', () => {
  const policy = policyWith('Intranet.Example.:8080', 'any.example:*')
  const target = { host: 'intranet.example', port: 8080 }
  for (const address of ['10.0.0.1', 'fd00::1', '127.0.0.1', '::1', '100.64.0.1', '8.8.8.8', '9.9.9.1']) {
    assert.ok(policy.judgeResolved(target, address).allowed, address)
    assert.ok(policy.judgeResolved({ host: 'any.example', port: 1 }, address).allowed, address)
    const isPublic = address === '8.8.8.8'
    assert.equal(policy.judgeResolved({ ...target, port: 80 }, address).allowed, isPublic, address)
    assert.equal(policy.judgeResolved({ ...target, host: 'sub.intranet.example' }, address).allowed, isPublic)
  }
  for (const address of ['169.254.169.254', '0.0.0.0', '224.0.0.1', 'fe80::1', '2002:7f00:1::']) {
    assert.ok(!policy.judgeResolved(target, address).allowed, address)
  }
})

test('a listed address with a port is open on that port', () => {
  const policy = policyWith('10.0.0.5:8080', '127.0.0.1:3000')
  assert.ok(policy.judgeAddress('10.0.0.5', 8080).allowed)
  assert.ok(policy.judgeAddress('::ffff:10.0.0.5', 8080).allowed)
  assert.ok(policy.judgeResolved({ host: 'a.example', port: 8080 }, '10.0.0.5').allowed)
  assert.ok(!policy.judgeAddress('10.0.0.5', 80).allowed)
  assert.ok(policy.judgeTarget({ host: 'localhost', port: 3000 }).allowed)
  assert.ok(!policy.judgeTarget({ host: 'localhost', port: 3001 }).allowed)
  assert.ok(!policy.judgeResolved({ host: 'a.example', port: 3000 }, '127.0.0.1').allowed)
})

test('host.berth.internal is open only where it is listed', () => {
  const target = { host: 'host.berth.internal', port: 3000 }
  assert.ok(!policyWith().judgeTarget(target).allowed)
  assert.ok(!policyWith('127.0.0.0/8').judgeTarget(target).allowed)
  assert.ok(!policyWith('host.berth.internal:3001').judgeTarget(target).allowed)
  for (const entry of ['host.berth.internal:3000', 'host.berth.internal:*', 'HOST.berth.internal:3000']) {
    const policy = policyWith(entry)
    assert.ok(policy.judgeTarget(target).allowed, entry)
    assert.ok(policy.judgeResolved(target, '127.0.0.1').allowed, entry)
    assert.ok(!policy.judgeAddress('127.0.0.1', 3000).allowed, entry)
    assert.ok(!policy.judgeTarget({ host: 'localhost', port: 3000 }).allowed, entry)
  }
})

test('loopback names and addresses are open only with 127.0.0.0/8, and DNS names that resolve to them never are', () => {
  const names = ['localhost', 'app.localhost']
  for (const host of names) assert.ok(!policyWith('10.0.0.0/8').judgeTarget({ host, port: 80 }).allowed, host)
  for (const entry of ['127.0.0.0/8', '0.0.0.0/0']) {
    const policy = policyWith(entry)
    for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1']) {
      assert.ok(policy.judgeAddress(address, 80).allowed, address)
      assert.ok(policy.judgeResolved({ host: 'localhost', port: 80 }, address).allowed, address)
      assert.ok(!policy.judgeResolved({ host: 'a.example', port: 80 }, address).allowed, address)
    }
    for (const host of names) assert.ok(policy.judgeTarget({ host, port: 80 }).allowed, host)
  }
  assert.ok(!policyWith('127.0.0.1').judgeAddress('::1', 80).allowed)
})

test('refuses an entry that would allow more than it seems to', () => {
  assert.throws(() => policyWith('::ffff:10.0.0.0/64'), /Cannot use "::ffff:10.0.0.0\/64"/)
})
