// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

// A token of tests: ERC-20 and EIP-3009 as USDC has them, and money for whoever asks.
contract Dollar {
    string public constant name = "Test Dollar";
    string public constant symbol = "TUSD";
    string public constant version = "2";
    uint8 public constant decimals = 6;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(bytes32 => bool)) public authorizationState;

    bytes32 private constant TRANSFER_WITH_AUTHORIZATION = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );

    event Transfer(address indexed from, address indexed to, uint256 value);
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        return keccak256(abi.encode(
            keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
            keccak256(bytes(name)), keccak256(bytes(version)), block.chainid, address(this)
        ));
    }

    function mint(address to, uint256 value) external {
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        move(msg.sender, to, value);
        return true;
    }

    // Two payments in one transaction.
    function transferTwice(address to, uint256 first, uint256 second) external {
        move(msg.sender, to, first);
        move(msg.sender, to, second);
    }

    function transferWithAuthorization(
        address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce,
        uint8 v, bytes32 r, bytes32 s
    ) public {
        require(block.timestamp > validAfter && block.timestamp < validBefore, "not now");
        require(!authorizationState[from][nonce], "used");
        bytes32 data = keccak256(
            abi.encode(TRANSFER_WITH_AUTHORIZATION, from, to, value, validAfter, validBefore, nonce)
        );
        bytes32 digest = keccak256(abi.encodePacked("\x19\x01", DOMAIN_SEPARATOR(), data));
        require(from != address(0) && ecrecover(digest, v, r, s) == from, "not signed");
        authorizationState[from][nonce] = true;
        emit AuthorizationUsed(from, nonce);
        move(from, to, value);
    }

    function transferWithAuthorization(
        address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce,
        bytes memory signature
    ) external {
        require(signature.length == 65, "not signed");
        (bytes32 r, bytes32 s) = abi.decode(signature, (bytes32, bytes32));
        transferWithAuthorization(
            from, to, value, validAfter, validBefore, nonce, uint8(signature[64]), r, s
        );
    }

    function move(address from, address to, uint256 value) private {
        require(balanceOf[from] >= value, "too little");
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}
