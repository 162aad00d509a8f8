//! Enumerations of the API as native ones.

/// Declares an enumeration with the words of the message enumeration `$wire`.
///
/// Each has a member `Unspecified`, which stands for the server's default in a request, and
/// for a value that this version of the client does not know in a response.
macro_rules! enumeration {
    (
        $(#[$attribute:meta])*
        $name:ident: $wire:path {
            $($(#[$member_attribute:meta])* $member:ident,)*
        }
    ) => {
        $(#[$attribute])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
        )]
        #[serde(rename_all = "kebab-case")]
        #[non_exhaustive]
        pub enum $name {
            /// The server's default, or a value that this version does not know.
            #[default]
            Unspecified,
            $($(#[$member_attribute])* $member,)*
        }

        impl From<$name> for i32 {
            fn from(value: $name) -> i32 {
                match value {
                    $name::Unspecified => <$wire>::Unspecified as i32,
                    $($name::$member => <$wire>::$member as i32,)*
                }
            }
        }

        impl From<i32> for $name {
            fn from(number: i32) -> Self {
                match <$wire>::try_from(number) {
                    $(Ok(<$wire>::$member) => Self::$member,)*
                    _ => Self::Unspecified,
                }
            }
        }
    };
}

pub(crate) use enumeration;
