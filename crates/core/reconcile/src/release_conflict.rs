//! Two instances that name the same release: which of them owns it.

/// An instance that names a release.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a, T> {
    /// The name of the instance.
    pub instance: &'a str,
    /// Whether the instance has installed the release.
    pub installed: bool,
    /// The creation time of the instance.
    pub created: T,
    /// The UID of the instance, which decides between instances of the same age.
    pub uid: &'a str,
}

/// The other instance that owns the release, if this one does not: the instance that has installed it, or else the oldest.
pub fn release_owner<'a, T: Ord>(
    own: &Claim<'_, T>,
    others: impl IntoIterator<Item = Claim<'a, T>>,
) -> Option<&'a str> {
    let first = others.into_iter().min_by(|one, other| one.rank().cmp(&other.rank()))?;
    (first.rank() < own.rank()).then_some(first.instance)
}

impl<T: Ord> Claim<'_, T> {
    /// Lower ranks win.
    fn rank(&self) -> (bool, &T, &str) {
        (!self.installed, &self.created, self.uid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(instance: &'static str, installed: bool, created: u32) -> Claim<'static, u32> {
        Claim { instance, installed, created, uid: instance }
    }

    #[test]
    fn installed_instance_keeps_its_release() {
        assert_eq!(release_owner(&claim("old", false, 1), [claim("new", true, 2)]), Some("new"));
        assert_eq!(release_owner(&claim("new", true, 2), [claim("old", false, 1)]), None);
    }

    #[test]
    fn older_instance_wins_before_either_is_installed() {
        assert_eq!(release_owner(&claim("new", false, 2), [claim("old", false, 1)]), Some("old"));
        assert_eq!(release_owner(&claim("old", false, 1), [claim("new", false, 2)]), None);
    }

    #[test]
    fn uid_decides_between_instances_of_the_same_age() {
        assert_eq!(release_owner(&claim("b", false, 1), [claim("a", false, 1)]), Some("a"));
        assert_eq!(release_owner(&claim("a", false, 1), [claim("b", false, 1)]), None);
    }

    #[test]
    fn first_of_several_others_is_named() {
        let others = [claim("c", false, 3), claim("a", false, 1), claim("b", false, 2)];
        assert_eq!(release_owner(&claim("d", false, 4), others), Some("a"));
    }

    #[test]
    fn single_instance_owns_its_release() {
        assert_eq!(release_owner(&claim("a", false, 1), []), None);
    }
}
