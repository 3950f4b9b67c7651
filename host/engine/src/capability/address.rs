//! Classification of IP addresses as public or not.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns true if the address is a public unicast address. A connection to any other address needs a grant that names
/// the address.
///
/// The other addresses are this host, this network, private and link-local addresses, cloud metadata services, carrier
/// NAT, multicast, documentation and reserved blocks. An IPv6 address that embeds an IPv4 address is public only if the
/// IPv4 address is public.
pub(crate) fn is_public(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    !(a == 0
        || ip.is_private()
        || ip.is_loopback()
        || ip.is_link_local() // includes 169.254.169.254
        || ip.is_multicast()
        || ip.is_broadcast()
        || ip.is_documentation()
        || (a == 100 && (64..128).contains(&b)) // carrier NAT
        || (a == 192 && b == 0 && c == 0) // protocol assignments
        || (a == 192 && b == 88 && c == 99) // 6to4 relays
        || (a == 198 && (b == 18 || b == 19)) // benchmarks
        || a >= 240)
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let s = ip.segments();
    // Public unicast addresses are all in 2000::/3. Outside of it are ::1, ::, fe80::/10, fc00::/7, ff00::/8 and the
    // IPv4-compatible block. fc00::/7 contains fd00:ec2::254, the address of a cloud metadata service.
    if s[0] & 0xe000 != 0x2000 {
        // A NAT64 address is public if its embedded IPv4 address is public.
        return s[..6] == [0x64, 0xff9b, 0, 0, 0, 0] && is_public_v4(low_v4(s[6], s[7]));
    }
    match (s[0], s[1]) {
        (0x2001, 0x0db8) | (0x3fff, 0..=0x0fff) => false, // documentation
        (0x2001, 0..=0x01ff) => false,                    // protocol assignments, Teredo
        (0x2002, _) => is_public_v4(low_v4(s[1], s[2])),  // 6to4
        _ => true,
    }
}

fn low_v4(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from((u32::from(high) << 16) | u32::from(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_addresses_are_recognized() {
        for ip in ["93.184.216.34", "8.8.8.8", "2606:2800:220:1::1", "::ffff:8.8.8.8", "64:ff9b::808:808"] {
            assert!(is_public(ip.parse().unwrap()), "{ip}");
        }
    }

    #[test]
    fn non_public_addresses_are_recognized() {
        for ip in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.8.8.8",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.168.1.1",
            "198.18.0.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "ff02::1",
        ] {
            assert!(!is_public(ip.parse().unwrap()), "{ip}");
        }
    }
}
